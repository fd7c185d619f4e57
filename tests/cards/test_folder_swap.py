"""Where a release may stand: a link, the current folder, a folder that cannot be renamed; and what a kill leaves."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from releases import config, write
from shared import tree_of

from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import open_release
from discoprobe.loaders import DiscoprobeError, Place, recovered
from discoprobe.loaders import files as folder_swap


def both(folder, other="so"):
    """A release of one config, then of another one too; the tree of the second."""
    write(folder, config("bso", "de"))
    return write(folder, config(other, "de"))


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    return tree_of(both(tmp_path_factory.mktemp("wanted") / "release"))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_current_folder(tmp_path, monkeypatch, wanted):
    (tmp_path / "release").mkdir()
    monkeypatch.chdir(tmp_path / "release")
    before = Path.cwd().stat().st_ino
    both(Path())
    assert tree_of(tmp_path / "release") == wanted
    assert Path.cwd().stat().st_ino == before, "the folder of the shell is still there"
    assert names(tmp_path) == ["release"]


def test_a_symbolic_link(tmp_path, wanted):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    both(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert tree_of(tmp_path / "elsewhere") == wanted
    assert names(tmp_path) == ["elsewhere", "link"]


def test_a_mount_point(tmp_path, monkeypatch, wanted):
    out = tmp_path / "release"
    out.mkdir()
    real = os.path.ismount
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == out or real(path))
    rename = Path.rename

    def busy(path, target):
        if path == out or Path(target) == out:
            raise OSError(16, "Device or resource busy", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", busy)
    monkeypatch.setattr(folder_swap, "exchanged", lambda *_: pytest.fail("a mount point cannot be exchanged"))
    both(out)
    assert tree_of(out) == wanted


def test_two_paths_are_exchanged_in_one_step(tmp_path):
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux has renameat2")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "of a").touch()
    assert folder_swap.exchanged(tmp_path / "a", tmp_path / "b")
    assert names(tmp_path / "b") == ["of a"]
    with pytest.raises(FileNotFoundError):
        folder_swap.exchanged(tmp_path / "a", tmp_path / "nothing")


@pytest.mark.parametrize("nth", range(1, 12))
def test_entries_are_old_or_new_wherever_it_is_killed(tmp_path, monkeypatch, wanted, nth):
    """A kill at each rename of an exchange entry by entry; whoever reads then finds a whole release."""
    out = tmp_path / "release"
    write(out, config("bso", "de"))
    old = tree_of(out)
    monkeypatch.chdir(out)
    calls, rename = [], Path.rename

    class KilledError(BaseException):
        pass

    def killed(path, target):
        calls.append(path)
        if len(calls) == nth:
            raise KilledError
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        patch.setattr(Place, "clean", lambda _: None)
        try:
            write(Path(), config("so", "de"))
        except KilledError:
            pass
        else:
            assert len(calls) < nth
    assert manifest.read(out).configs
    found = {name: content for name, content in tree_of(out).items() if not name.startswith(".discoprobe")}
    assert found in (old, wanted)
    write(Path(), config("so", "de"))
    assert tree_of(out) == wanted


def test_every_reader_finds_a_release_that_was_killed_between_two_renames(tmp_path, command, sample_release):
    out = tmp_path / "release"
    shutil.copytree(sample_release, tmp_path / ".release.old")
    done = command("card", "bso_es", "--out", out)
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == ["release"]
    assert recovered(out) == out


def test_a_push_or_an_export_finds_such_a_release_too(tmp_path, sample_release):
    shutil.copytree(sample_release, tmp_path / ".release.old")
    assert manifest.read_release(tmp_path / "release") == manifest.read_release(sample_release)


HOLD = """
import sys, time
from pathlib import Path
from discoprobe.cards.release.release_folder import open_release
with open_release(Path(sys.argv[1])):
    print("in", flush=True)
    time.sleep(60)
"""


def test_two_programs_with_other_temporary_folders_do_not_mix(tmp_path):
    out = write(tmp_path / "release", config("bso", "de"))
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    program = [sys.executable, "-c", HOLD, str(out)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, env=environment) as other:
        try:
            assert other.stdout.readline() == b"in\n"
            with pytest.raises(DiscoprobeError, match="another build is writing"), open_release(out):
                pass
        finally:
            other.kill()
    write(out, config("so", "de"))
    assert names(tmp_path) == ["release", "tmp"]
