import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from discoprobe.loaders import PREFIX, work_folder

WORKING = """
import sys, time
from pathlib import Path
from discoprobe.loaders.files import work_folder
with work_folder(Path(sys.argv[1])) as folder:
    (folder / "batch").write_text("half")
    print(folder, flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_left_is_deleted_and_what_a_living_one_has_is_not(tmp_path):
    processes = [
        subprocess.Popen([sys.executable, "-c", WORKING, tmp_path], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    try:
        killed, living = (process.stdout.readline().strip() for process in processes)
        os.kill(processes[0].pid, signal.SIGKILL)
        processes[0].wait()
        assert Path(killed).is_dir()
        with work_folder(tmp_path) as own:
            assert sorted(map(str, tmp_path.glob(f"{PREFIX}*"))) == sorted([living, str(own)])
        assert [str(folder) for folder in tmp_path.glob(f"{PREFIX}*")] == [living]
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    with work_folder(tmp_path):
        pass
    assert not list(tmp_path.glob(f"{PREFIX}*"))


def test_a_failure_leaves_nothing(tmp_path):
    with pytest.raises(FileNotFoundError), work_folder(tmp_path) as own:
        (own / "no folder" / "x").touch()
    assert not list(tmp_path.glob(f"{PREFIX}*"))
