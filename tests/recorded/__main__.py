"""Asks torch for the answers to all expressions, and writes them down: python -m tests.recorded."""

import json

import torch

from . import programs

answers = {line: programs.answer(torch, line) for _, line in programs.expressions()}
lines = [f"{json.dumps(line)}: {json.dumps(each)}" for line, each in answers.items()]
head = f'{{"torch": {json.dumps(torch.__version__)},\n"answers": {{\n'
(programs.HERE / "torch.json").write_text(head + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
print(f"recorded: {len(lines)} answers of torch {torch.__version__}")
