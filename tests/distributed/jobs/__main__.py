"""Records what torch's gloo gives for the programs beside this file: python tests/distributed/jobs PATH/TO/PYTHON/WITH/TORCH"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RECORD = HERE / "torch.json"
JOBS = [["ddp.py"], ["ddp.py", "--double"], ["passes.py"], ["collectives.py"]]


def run(python, job, size, folder):
    """What `size` processes of torch print."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(size), "OMP_NUM_THREADS": "1"}
    command = [python, HERE / job[0], *job[1:]]
    processes = [
        subprocess.Popen(
            command, env={**os.environ, **place, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True, cwd=folder
        )
        for rank in range(size)
    ]
    printed = [process.communicate(timeout=300)[0].splitlines() for process in processes]
    if any(process.returncode for process in processes):  # torch's threads sometimes end a process after its last line
        return run(python, job, size, folder)
    return sorted(line for lines in printed for line in lines)


if __name__ == "__main__":
    python = sys.argv[1]
    version = subprocess.run(
        [python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=True
    )
    answers = {f"{' '.join(job)} on {size}": run(python, job, size, "/tmp") for job in JOBS for size in (1, 2, 4)}
    RECORD.write_text(
        json.dumps({"torch": version.stdout.strip(), "answers": answers}, indent=1) + "\n", encoding="utf-8"
    )
