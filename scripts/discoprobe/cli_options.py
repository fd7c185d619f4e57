"""The arguments and options of the command line: their types, names and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Lang = Annotated[str, typer.Option("--lang", "-l", help="Languages, by code or name, separated by commas; `all`.")]
CorpusOption = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        "-c",
        help="`sample`, a corpus of the catalogue, a .conllu file or folder, or raw text, which is read and "
        "annotated as `annotate` does by default (for columns, filters or a licence use it, and name its folder here); "
        "repeatable.",
    ),
]
TaskOption = Annotated[
    str, typer.Option("--task", "-t", help="Tasks, `discourse`, `probing` or `all`; commas between.")
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The release folder.")]
Size = Annotated[str | None, typer.Option("--size", help="Most rows: N in all, or TRAIN/VAL/TEST.")]
Seed = Annotated[int, typer.Option("--seed", help="Every choice depends on it.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes.")]
OnErrorOption = Annotated[str, typer.Option("--on-error", help="A malformed sentence: `stop` or `skip`.")]
Match = Annotated[bool, typer.Option("--match/--no-match", help="Repair shortcuts by construction, or emit the pool.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A filter: ipm=share|mean|none, ipm_min=0.9, frequency=wordfreq|corpus|FILE, syncretism=pos,feature, "
        "probing_words=5/25, discourse_words=3/64, min_class=20; repeatable.",
    ),
]
Audit = Annotated[bool, typer.Option("--audit/--no-audit", help="Measure every config, and leave out what fails.")]
KeepFailed = Annotated[bool, typer.Option("--keep-failed", help="Emit what fails the audit too; the exit status is 3.")]
OnlyDecided = Annotated[
    bool, typer.Option("--only-decided", help="Leave out what has too few rows to decide on every check of the audit.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
AuditNames = Annotated[list[str] | None, typer.Argument(help="Paths, configs of --out, Hub ids; else all of --out.")]
TextColumns = Annotated[list[str] | None, typer.Option("--text", help="A column that holds text; repeatable.")]
LabelColumn = Annotated[str | None, typer.Option("--label", help="The column that holds the label.")]
Format = Annotated[
    str | None,
    typer.Option("--format", help="senteval, xprobe, discoeval, discoeval-bso, pairs or table; guessed by default."),
]
Repo = Annotated[str, typer.Option("--repo", help="The dataset repository on the Hub, owner/name.")]
ReleaseNumber = Annotated[str, typer.Option("--release", help="X.Y.Z; proposed from the changes by default.")]
Build = Annotated[bool, typer.Option("--build/--no-build", help="Build first, or publish --out as it is.")]
AllowLicence = Annotated[
    list[str] | None, typer.Option("--allow-licence", help="Publish under this licence though it is not open.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and stop.")]
CreatePr = Annotated[bool, typer.Option("--create-pr", help="Propose the commit as a pull request.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Against = Annotated[str, typer.Option("--against", help="A release folder, owner/name, or owner/name@v1.2.0.")]
Rebuild = Annotated[
    bool, typer.Option("--rebuild/--no-rebuild", help="Build again, or compare with the manifest only.")
]
ConfigName = Annotated[str, typer.Argument(help="A config, such as dc_es; without it, the card of the release.")]
Pages = Annotated[Path, typer.Option("--pages", help="Where the pages go.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the first page in a browser.")]
Source = Annotated[str, typer.Argument(help="A text file, table or TEI file, a folder of them, or hf://owner/name.")]
CorpusFolder = Annotated[Path, typer.Option("--out", "-o", help="The folder of the annotated corpus.")]
RawLang = Annotated[str, typer.Option("--lang", "-l", help="The language, by code or name.")]
StanzaDir = Annotated[
    Path | None, typer.Option("--stanza-dir", help="The folder of Stanza's models; by default Stanza's own.")
]
Segment = Annotated[
    bool,
    typer.Option(
        "--segment",
        help="Of raw text, only find sentences and words: with Stanza's tokeniser where it is, else by rules (in any "
        "language with spaces between words). Tasks that need annotation are not built then.",
    ),
]
Processors = Annotated[
    str, typer.Option("--processors", help="What Stanza does; `pos=hdt` for a package other than the default.")
]
Download = Annotated[bool, typer.Option("--download", help="Download models that are not there.")]
CorpusName = Annotated[str, typer.Option("--name", help="What the corpus is called; by default as SOURCE is.")]
Licence = Annotated[str, typer.Option("--licence", help="Of the text, as in `CC BY-SA 4.0`; without one, no push.")]
Citation = Annotated[str, typer.Option("--citation", help="How to cite the text.")]
TextColumn = Annotated[str, typer.Option("--text", help="The column of a table that holds the text.")]
IdColumn = Annotated[str, typer.Option("--id", help="The column that names the documents.")]
GenreColumn = Annotated[str, typer.Option("--genre", help="The column of genres.")]
SentencesColumn = Annotated[str, typer.Option("--sentences", help="The column with the text as a list of sentences.")]
ReadSet = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="How text is read and filtered: encoding=cp1252, lines=wrapped|sentences|paragraphs, min_words=3, "
        "max_characters=20000, min_document_words=100, script_share=0.5, language_share=0.5, boilerplate=5, "
        "duplicates=no, split=train, config=NAME, revision=NAME; repeatable.",
    ),
]
Names = Annotated[list[str] | None, typer.Argument(help="Languages or corpora; all by default.")]
