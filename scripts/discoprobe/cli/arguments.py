"""The arguments and options of the command line: their types, names and help."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand


def _lines(*lines: str) -> str:
    """Help that is printed with a line break after each of these lines."""
    return "\n\n".join(lines)


class OptionsOnly(TyperCommand):
    """A command without arguments; what follows an option's value is probably another value of it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments that are left, of which there are none."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if "unexpected extra" in str(getattr(error, "message", "")):
                error.message += "; separate the values of an option by commas: --task dc,nsp"  # type: ignore[attr-defined]
            raise


def _use_plugins(folders: list[Path] | None) -> list[Path]:
    """Uses the plugins of ``--plugins``, if it is given; typer 0.16 takes no None from a callback."""
    if folders:
        from discoprobe.loaders.plugins import use_plugins

        use_plugins(*folders)
    return folders or []


def _last_of(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """What completes a name, or the last of several that are separated by commas."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


def _languages() -> list[str]:
    from discoprobe.loaders.catalogue import treebanks

    return [each.code for each in treebanks.languages(every=True)]


def _corpora() -> list[str]:
    from discoprobe.loaders.catalogue import treebanks

    heads = treebanks.languages(every=True)
    return ["sample", *sorted({corpus.name for each in heads for corpus in (*each.treebanks, *each.texts)})]


def _tasks() -> list[str]:
    from discoprobe.builders.task import all_tasks
    from discoprobe.loaders.plugins import FAMILIES

    return [*all_tasks(), *FAMILIES, "all", "feats"]


def _complete_config(context: typer.Context, incomplete: str) -> list[str]:
    """The configs of the release folder ``--out``."""
    from discoprobe.cards.metadata import manifest

    folder = Path(context.params.get("out") or "dist/discoprobe")
    names = manifest.read(folder).configs if (folder / manifest.NAME).is_file() else {}
    return [name for name in names if name.startswith(incomplete)]


complete_languages, complete_tasks, complete_corpora = _last_of(_languages), _last_of(_tasks), _last_of(_corpora)

CORPUS, SIZES, FILTERS, AUDIT = "Corpora", "Sizes", "Filters", "Audit"
PUBLISHING, OUTPUT = "Publishing", "Output"
"""Panels of help; options without one come first."""

Texts = list[str] | None
Files = list[Path] | None

# A table: the name, type and flags of an option, then its help.
# fmt: off

Lang = Annotated[Texts, typer.Option("--lang", "-l", autocompletion=complete_languages, help=
    "Languages by code or name, separated by commas, such as de,es. Default: those of the corpora or of the release. "
    "`all` means the same; if no corpus is named, it means all languages of the catalogue. Repeatable.")]
CorpusOption = Annotated[Texts, typer.Option("--corpus", "-c", autocompletion=complete_corpora, help=
    "A corpus: `sample`, a name of the catalogue, a path (.conllu file, folder or archive of them, or raw text), or a "
    "URL such as hf://datasets/org/name. Raw text is annotated with the default options of `build annotate`; to choose "
    "columns, filters or a licence, run `build annotate` first and give its folder here. Repeatable.")]
TaskOption = Annotated[Texts, typer.Option("--task", "-t", autocompletion=complete_tasks, help=
    "Tasks, separated by commas, such as dc,sp, or groups of tasks: `probing`, `discourse`, `relations`, `suites`, "
    "`all`, and `feats` (one task per morphological feature and role of a word, not part of `all`). Repeatable. "
    "Default: `all`.")]
Plugins = Annotated[Files, typer.Option("--plugins", callback=_use_plugins, is_eager=True, rich_help_panel=CORPUS, help=
    "A folder with tasks, languages and corpora of your own, as `build new` writes it. Repeatable. Default: the "
    "folders in the environment variable DISCOPROBE_PLUGINS.")]
NewIn = Annotated[Path, typer.Option("--plugins", help="The folder of the plugin.")]
NewWorkflowIn = Annotated[Path, typer.Option("--folder", help="A clone of the repository on GitHub.")]
NewTask = Annotated[str, typer.Argument(help="The name of the task, such as my_task.")]
NewLanguage = Annotated[str, typer.Argument(help="The language, by code or name, such as da.")]
NewCorpus = Annotated[str, typer.Argument(help="The name of the corpus, such as mine.")]
NewCorpusLang = Annotated[str, typer.Option("--lang", "-l", autocompletion=complete_languages, help=
    "The language of the corpus, by code or name.")]
OwnFiles = Annotated[list[Path], typer.Argument(help=
    "The folder of a plugin, or files of it: of a language or corpora (.toml), or of a task or parser (.py).")]
Out = Annotated[str, typer.Option("--out", "-o", help=
    "The release folder: a path, or a URL such as s3://bucket/release.")]
Size = Annotated[str | None, typer.Option("--size", rich_help_panel=SIZES, help=
    "The largest number of rows per config: N in total, or TRAIN/VAL/TEST, such as 1000/200/200. Default: "
    "100000/10000/10000.")]
Documents = Annotated[int | None, typer.Option("--documents", min=1, rich_help_panel=SIZES, help=
    "Read at most this many documents, chosen by hash.")]
MinRows = Annotated[str | None, typer.Option("--min-rows", rich_help_panel=SIZES, help=
    "Leave out configs with fewer rows: TRAIN/VAL/TEST. Default: 200/50/100. Suites need half of TEST. 0 keeps them, "
    "marked as tiny. Configs of the sample corpus are always kept.")]
WhyConfig = Annotated[str, typer.Argument(autocompletion=_complete_config, help="A config, such as dc_es.")]
WhySentence = Annotated[str, typer.Argument(help=
    "The sent_id of a sentence of the corpus, its text or several words of it, or the id of a row of the config.")]
WhyOut = Annotated[str, typer.Option("--out", "-o", help=
    "A release folder: if it has the config, its manifest says the settings and, without --corpus, the corpora; "
    "otherwise the other options say them, as in `run`.")]
Preset = Annotated[str, typer.Option("--preset", rich_help_panel=FILTERS, help=
    "Filters of probing tasks: `default`, `rusenteval` (5-25 words, frequent words), or `senteval`.")]
Seed = Annotated[int, typer.Option("--seed", rich_help_panel=SIZES, help=
    "Seed of the sampling; another seed chooses other rows.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, rich_help_panel=OUTPUT, help="Number of processes.")]
Cluster = Annotated[str, typer.Option("--cluster", rich_help_panel=OUTPUT, help=
    "Work on a Dask cluster: the address of its scheduler, such as tcp://host:8786, or its scheduler file. Its "
    "machines share the cache and the folders of corpora.")]
OnErrorOption = Annotated[str, typer.Option("--on-error", rich_help_panel=CORPUS, help=
    "What to do with a malformed sentence, row or file: `stop` or `skip`.")]
Match = Annotated[bool, typer.Option("--match/--no-match", rich_help_panel=FILTERS, help=
    "Match labels on surface features, or keep all candidates.")]
Set = Annotated[Texts, typer.Option("--set", rich_help_panel=FILTERS, help=_lines(
    "Change a setting, such as probing_words=5/25. Repeatable. docs/settings.md explains the settings:",
    "probing_words=5/40: words of a sentence in probing tasks",
    "discourse_words=3/64: words of a sentence in discourse tasks",
    "ipm=none|share|mean: filter by word frequency",
    "ipm_min=0.9: smallest share or mean for this filter",
    "frequency=wordfreq|corpus|FILE: source of word frequencies",
    "syncretism=pos,feature|none: ambiguity that excludes a target",
    "length_bins=quantile|equal|senteval: classes of sent_len",
    "min_class=20: fewest rows of a label",
    "paradigms=unimorph|none|FILE: verb forms for agreement_suite (UniMorph)",
    "documents=auto|newdoc|file|none: what a document is",
    "genres=prose|all: leave out genres that do not suit a task",
    "block=4194304: bytes of text that are sampled together",
))]
Audit = Annotated[bool, typer.Option("--audit/--no-audit", rich_help_panel=AUDIT, help=
    "Audit every config and leave out those that fail.")]
KeepFailed = Annotated[bool, typer.Option("--keep-failed", rich_help_panel=AUDIT, help=
    "Keep configs that fail the audit; the exit status is then 3, unless all faults are minor.")]
Json = Annotated[bool, typer.Option("--json", rich_help_panel=OUTPUT, help="Print the result as JSON.")]
AuditNames = Annotated[Texts, typer.Argument(autocompletion=_complete_config, help=
    "Paths, URLs, configs of --out, or Hub ids (hf://owner/name). Default: all configs of --out.")]
TextColumns = Annotated[Texts, typer.Option("--text", help=
    "A column that holds text (for choices: the context). Repeatable, in order.")]
ChoiceColumns = Annotated[Texts, typer.Option("--choices", help=
    "A column that holds a choice, or lists of choices. Repeatable, in order.")]
LabelColumn = Annotated[str | None, typer.Option("--label", help="The column that holds the label.")]
PairColumn = Annotated[str | None, typer.Option("--pair", help=
    "The column that has the same value in all rows of a pair. Default: pair_id.")]
SplitNames = Annotated[Texts, typer.Option("--split", help=
    "The column with the split of each row; or NAME=SPLIT, which says what a name stands for, such as "
    "dev_matched=validation. Repeatable.")]
ExcludeLabels = Annotated[Texts, typer.Option("--exclude", help=
    "A label whose rows are left out, such as '-'. Repeatable.")]
GroupColumn = Annotated[str | None, typer.Option("--group", help=
    "The column with the same value in all rows that depend on each other, such as those of a document. Default: one "
    "with a usual name, such as doc_id.")]
EditedLabels = Annotated[Texts, typer.Option("--edited", help=
    "A label of texts that were edited: then solvers of words and characters count as faults. Default: usual names, "
    "such as `edited` beside `original`. Repeatable.")]
AuditedType = Annotated[str | None, typer.Option("--task-type", help=
    "What a row is, as in `import`: `pair` makes shared words a fault, `entailment` reports them, `paraphrase` and "
    "`similarity` are about them. Default: guessed from labels and texts.")]
Expected = Annotated[Texts, typer.Option("--expected", help=
    "A check that reads what the labels are about, so that it is no cue; `words` stands for all solvers of words and "
    "characters. Repeatable.")]
HubConfig = Annotated[str | None, typer.Option("--config", help=
    "The config of a Hub dataset (second argument of `load_dataset`).")]
ImportSource = Annotated[list[str], typer.Argument(help=
    "Files of one dataset, its folder, a URL, or a Hub id (hf://owner/name).")]
ImportType = Annotated[str, typer.Option("--task-type", help=
    "What a row is: single, pair, entailment, paraphrase, similarity, choice, minimal-pairs, winograd-suite or "
    "speaker-suite.")]
ImportName = Annotated[str, typer.Option("--name", help="Name of the config without its language, such as sentiment.")]
ImportLang = Annotated[str, typer.Option("--lang", "-l", autocompletion=complete_languages, help=
    "Code of the language, such as es.")]
ImportLicence = Annotated[str, typer.Option("--licence", help=
    "Licence of the data: an identifier of SPDX, a usual spelling such as 'CC BY-SA 4.0', or unknown.")]
DropLeaks = Annotated[bool, typer.Option("--drop-leaks", help=
    "Leave out rows of earlier splits that occur in later splits, and rows that occur twice; count them. Stops if it "
    "would take more than a tenth of a split.")]
Regroup = Annotated[bool, typer.Option("--regroup", help=
    "Divide all rows into the splits again, each once, so that rows that share a sentence are in one split.")]
Strict = Annotated[bool, typer.Option("--strict", help=
    "Leave the config out if the audit finds more than minor faults; the exit status is then 3.")]
Encoding = Annotated[str, typer.Option("--encoding", help=
    "The encoding of text files, such as cp1252 or latin-1. Default: that of the byte order mark, UTF-8, or UTF-16; "
    "`annotate` also finds the code page of Windows for the language.")]
Format = Annotated[str | None, typer.Option("--format", help=
    "The format of the files: senteval, trec, fasttext, label-first, xprobe, discoeval, discoeval-bso, cola, xwino, "
    "pairs or table. Default: detected.")]
Html = Annotated[Path | None, typer.Option("--html", help=
    "Also write the report as one HTML page with the rows that show each finding.")]
RowsOf = Annotated[str, typer.Option("--rows", metavar="CHECK", help=
    "Print only the rows of this check's finding, as JSON lines: the faulty ones, each with the row that it repeats, "
    "or those that the solver of a shortcut gets right. `doubtful-labels` has the rows that may be labelled wrongly.")]
Repo = Annotated[str, typer.Option("--repo", help="The dataset repository on the Hub, owner/name.")]
ReleaseNumber = Annotated[str, typer.Option("--release", rich_help_panel=PUBLISHING, help=
    "The release number, X.Y.Z. Default: derived from the changes.")]
Build = Annotated[bool, typer.Option("--build/--no-build", rich_help_panel=PUBLISHING, help=
    "Build what is missing or out of date first, or publish the folder --out unchanged.")]
AllowLicence = Annotated[Texts, typer.Option("--allow-licence", rich_help_panel=PUBLISHING, help=
    "Publish sources with this licence, although it is not open. Repeatable.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help=
    "Show what would be read, built and sent; do not build or send anything.")]
DryBuild = Annotated[bool, typer.Option("--dry-run", help=
    "Show what would be read and downloaded, and how long building takes; do not build or download anything.")]
Private = Annotated[bool, typer.Option("--private", rich_help_panel=PUBLISHING, help=
    "Make the repository private, if this push creates it.")]
CreatePr = Annotated[bool, typer.Option("--create-pr", rich_help_panel=PUBLISHING, help=
    "Propose the commit as a pull request.")]
ResultsPr = Annotated[bool, typer.Option("--create-pr", rich_help_panel=PUBLISHING, help=
    "Propose the scores of each model that is on the Hub to its repository, as `.eval_results`, in a pull request.")]
Restore = Annotated[str, typer.Option("--restore", metavar="RELEASE", rich_help_panel=PUBLISHING, help=
    "Build nothing: make main hold the files of this release again, such as v1.2.0, after somebody has changed them.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Publish without asking; needed where there is no terminal.")]
Against = Annotated[str, typer.Option("--against", help=
    "The release to compare with: a folder, owner/name, or owner/name@v1.2.0.")]
SourceCorpora = Annotated[Texts, typer.Option("--corpus", "-c", autocompletion=complete_corpora, help=
    "Build again from this corpus, given as in `run`. Default: download the sources that the manifest names. "
    "Repeatable.")]
Rebuild = Annotated[bool, typer.Option("--rebuild/--no-rebuild", help=
    "Also build the release again and compare, or only compare with the manifest.")]
ConfigName = Annotated[str, typer.Argument(autocompletion=_complete_config, help=
    "A config, such as dc_es. Default: the card of the release.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the first page in a browser.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help=
    "The port of the application; 0 takes any free port.")]
ReaderName = Annotated[str, typer.Option("--reader", help=
    "Your name as a reader; you can also give it in the browser.")]
ReaderKindOption = Annotated[str, typer.Option("--reader-kind", help="Whether the reader is a `person` or a `model`.")]
MarksOption = Annotated[Files, typer.Option("--marks", help=
    "Add the marks of this file (JSONL, as `build review` writes it) to those of the release, update the cards, and "
    "stop. Repeatable.")]
SinceRelease = Annotated[str, typer.Option("--against", help=
    "Show what changed since this release: a folder, owner/name, or owner/name@v1.2.0.")]
ContextCorpus = Annotated[Texts, typer.Option("--corpus", "-c", autocompletion=complete_corpora, help=
    "Show each row with its context in this corpus, given as in `run`. Repeatable.")]
Exclude = Annotated[Files, typer.Option("--exclude", rich_help_panel=FILTERS, help=
    "Leave out the rows that readers found faulty, according to this file of marks from `build review`. Repeatable.")]
SourceArgument = Annotated[str, typer.Argument(help=
    "A text file, table or TEI file, a folder of them, or hf://owner/name.")]
CorpusFolder = Annotated[str, typer.Option("--out", "-o", help="The folder of the annotated corpus: a path or a URL.")]
RawLang = Annotated[str, typer.Option("--lang", "-l", autocompletion=complete_languages, help=
    "The language of the texts, by code or name; or several, separated by commas: each text goes to the corpus of its "
    "language, OUT/CODE.")]
StanzaDir = Annotated[Path | None, typer.Option("--stanza-dir", rich_help_panel=CORPUS, help=
    "The folder of Stanza's models. Default: Stanza's own folder.")]
Fill = Annotated[Texts, typer.Option("--fill", rich_help_panel=CORPUS, help=
    "Raw text for discourse tasks, used after the treebanks until --size is reached: a dataset of the catalogue, or "
    "a path or URL of parquet files. Default: `finewiki` if no --corpus is given, else none. The column `corpus` "
    "names the source of each row. Repeatable.")]
Gold = Annotated[bool, typer.Option("--gold", rich_help_panel=CORPUS, help=
    "Build from treebanks only, without --fill.")]
Silver = Annotated[bool, typer.Option("--silver", rich_help_panel=CORPUS, help=
    "Annotate the text of --fill, too, with Stanza or --parser, to fill probing tasks: those whose labels are wrong in "
    "at most 2 % of held-out sentences of the treebanks. The column `annotation` says which rows these are.")]
Parser = Annotated[Texts, typer.Option("--parser", metavar="PARSER", rich_help_panel=CORPUS, help=
    "What annotates text: `stanza`, `stanza=PACKAGE`, a parser of a plugin, a Python file with the functions "
    "`describe` and `parse`, or CoNLL-U files that were parsed before. A second one has to agree with the first. "
    "Default: Stanza.")]
Licences = Annotated[str, typer.Option("--licences", metavar="open|all", rich_help_panel=CORPUS, help=
    "Which corpora of the catalogue may be used: `open` (they may be changed and passed on for any purpose), or `all`. "
    "`push` refuses to publish what is built from the others.")]
Segment = Annotated[bool, typer.Option("--segment", rich_help_panel=CORPUS, help=
    "Divide raw text into sentences and words only; tasks that need annotation are then not built. This uses "
    "Stanza's tokeniser if it is installed, else rules (for languages with spaces between words). Parquet files, "
    "local or on the Hub, are read only as far as --size needs.")]
Processors = Annotated[str, typer.Option("--processors", help=
    "Stanza's processors; those that they need are added. `pos=hdt` chooses another package than the default.")]
Download = Annotated[bool, typer.Option("--download", help="Download models that are missing.")]
CorpusName = Annotated[str, typer.Option("--name", help="The name of the corpus. Default: the name of SOURCE.")]
Licence = Annotated[str, typer.Option("--licence", help=
    "The licence of the text, such as `CC BY-SA 4.0`; without it the text cannot be published.")]
Citation = Annotated[str, typer.Option("--citation", help="How to cite the text.")]
TextColumn = Annotated[str, typer.Option("--text", help=
    "The column of a table that holds the text. Default: one with a usual name, such as `content`.")]
IdColumn = Annotated[str, typer.Option("--id", help=
    "The column with the document ids, which must be unique. Default: one such as `id`, else row numbers.")]
GenreColumn = Annotated[str, typer.Option("--genre", help="The column with the genres.")]
SentencesColumn = Annotated[str, typer.Option("--sentences", help=
    "The column that holds the text as a list of sentences.")]
ReadSet = Annotated[Texts, typer.Option("--set", help=_lines(
    "Change how text is read, such as min_words=3. Repeatable. docs/raw_text.md explains the options:",
    "lines=auto|wrapped|sentences|paragraphs: what a line is",
    "min_words=1: fewest words of a paragraph",
    "max_characters=20000: longer paragraphs are cut after a sentence",
    "min_document_words=1: fewest words of a document",
    "script_share=0.5: share of letters in the scripts of the language",
    "language_share=0.5: share of text in the language",
    "boilerplate=5: documents in which a line recurs that is left out",
    "duplicates=yes|no: leave out repeated paragraphs and documents",
    "split=NAME, config=NAME, revision=NAME: of a dataset of the Hub",
))]
Names = Annotated[Texts, typer.Argument(help="Languages or corpora. Default: all.")]
LanguageNames = Annotated[Texts, typer.Argument(help="Languages, by code or name, such as wo. Default: all.")]
CheckNames = Annotated[Texts, typer.Argument(help=
    "Languages, corpora, .conllu files or folders of them. Default: the whole catalogue.")]
ModelNames = Annotated[list[str] | None, typer.Option("--model", "-m", help=
    "A model of transformers or sentence-transformers: a local folder, or an id on the Hub. Repeatable.")]
HarnessResults = Annotated[Path | None, typer.Option("--results", help=
    "Read scores of instruction-tuned and API models from this folder, which lm-evaluation-harness wrote "
    "(--output_path, --log_samples) on what `build export --format lm-eval-chat` or `lm-eval` wrote.")]
ProbeLang = Annotated[Texts, typer.Option("--lang", "-l", autocompletion=complete_languages, help=
    "Score the configs of these languages, such as de,es. Default: all of the release. Repeatable.")]
ProbeTask = Annotated[Texts, typer.Option("--task", "-t", autocompletion=complete_tasks, help=
    "Score the configs of these tasks, or groups of tasks, such as dc,probing. Default: all of the release. "
    "Repeatable.")]
Surprisal = Annotated[bool, typer.Option("--surprisal", help=
    "Do not train probes; compare the probabilities that a model gives to the texts of pairs and choices.")]
ControlFigures = Annotated[bool, typer.Option("--controls/--no-controls", help=
    "Also measure controls: random labels, random weights, shuffled words, selectivity, code length.")]
TrainRows = Annotated[int, typer.Option("--train-rows", min=10, help="The largest number of training rows.")]
Device = Annotated[str, typer.Option("--device", help=
    "The device of torch: cpu, cuda, cuda:1, mps, or auto, which is a GPU if there is one.")]
Precision = Annotated[str, typer.Option("--dtype", help=
    "The precision of the weights: float32, or bfloat16 or float16, which need half the memory.")]
Transfer = Annotated[Texts, typer.Option("--transfer", help=
    "Also measure probes on the test splits of the same task in these languages, such as es,ru.")]
Quick = Annotated[bool, typer.Option("--quick", help=
    "Probe at most 2,500 training, 500 validation and 2,000 test rows, without controls.")]
Layers = Annotated[Texts, typer.Option("--layers", help=
    "The layers that are probed (0: embeddings), such as 0,6,12. Default: all.")]
BatchSize = Annotated[int, typer.Option("--batch-size", min=1, help=
    "The largest number of texts in a batch; batches are also limited to 8,192 tokens.")]
TrustRemoteCode = Annotated[bool, typer.Option("--trust-remote-code", help=
    "Run code from the repository of the model.")]
AnalyseLayers = Annotated[bool, typer.Option("--analyse-layers", help=
    "Also train an MLP in each layer, find the top neurons of tasks on sentences, and draw how similar layers are, "
    "within and between models.")]
VectorCache = Annotated[float, typer.Option("--vector-cache", min=0, help=
    "The largest size in GB of the vectors that are kept in the cache, so that no text is read twice by a model; 0 "
    "keeps none.")]
SaveFolder = Annotated[Path | None, typer.Option("--save", help=
    "The folder for CONFIG/MODEL.json and plots of the layers (SVG). Default: OUT-scores, beside the release.")]
# fmt: on
