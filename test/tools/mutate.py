#!/usr/bin/env python3
"""Changes the code in one place at a time and looks whether a test fails then.

usage: test/tools/mutate.py [-n NUMBER] [-s SEED] [-l LOG] [FILE...]

A change is a condition turned, a bound moved by one, a number increased, a call left out, or two calls that follow each
other swapped. NUMBER places (100) of the FILEs (all of src/core, and the guardian) are drawn by SEED; what the compiler
refuses, and what changes no instruction, is drawn again. The suites run from the quickest to the slowest until one fails.
Each survivor is printed as it is found, with its place: it shows a test that is missing, or code that does nothing;
one that is in test/tools/mutants-judged shows neither, and is not tried.

It works on a clone of HEAD, build/mutate/tree. A place that the LOG (build/mutate/log) has is not tried again, so that a
run goes on where another one ended.
"""
import argparse
import glob
import os
import random
import re
import signal
import subprocess
import sys

# Name, command, its limit in seconds, what is built for it.
SUITES = [
    ("scenario", ["build/debug/scenario", "test/scenario"], 60, ["scenario"]),
    ("sim", ["build/debug/sim", "--seeds", "150"], 60, ["sim"]),
    ("fillers", ["build/debug/scenario", "--fillers", "test/scenario"], 90, []),
    ("unit", ["make", "VARIANT=debug", "unit"], 400, ["test-canceld"]),
    ("e2e", ["make", "VARIANT=debug", "e2e"], 600,
     ["e2e", "canceld", "cancelctl", "demo-server", "clock-shift.so"]),
    ("matrix", ["make", "VARIANT=debug", "matrix"], 300, []),
]
# What is replaced, where it stands in code.
SWAPS = [
    (r"==", "!="), (r"!=", "=="), (r"(?<![-<>=])<(?![<=])", "<="), (r"(?<!<)<=", "<"),
    (r"(?<![->])>(?![>=])", ">="), (r"(?<!>)>=", ">"), (r"&&", "||"), (r"\|\|", "&&"),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"(?<=\()!(?=[a-z])", ""),
    (r"(?<== )(\d+)(?=;)", lambda m: str(int(m.group(1)) + 1)), (r" \+ 1\b", ""), (r" - 1\b", ""),
    (r"\breturn 0;", "return 1;"),
]
# No test shows that an assertion is missing.
CALL = re.compile(r"^\t+(?!assert\b)[a-z_]+\([^;{}]*\);$")


def masked(text):
    """The same text with blanks for comments, strings, characters and directives."""
    out = re.sub(r'/\*.*?\*/', lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)
    out = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', lambda m: " " * len(m.group(0)), out)
    return re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*$", lambda m: re.sub(r"[^\n]", " ", m.group(0)), out, flags=re.M)


def places(path, text):
    """(line, column, what, text after the change) of each change."""
    code = masked(text)
    found = []
    for pattern, new in SWAPS:
        for m in re.finditer(pattern, code):
            by = new(m) if callable(new) else new
            line = code.count("\n", 0, m.start()) + 1
            column = m.start() - code.rfind("\n", 0, m.start())
            found.append((line, column, "%s -> %s" % (m.group(0).strip(), by.strip() or "nothing"),
                          text[:m.start()] + by + text[m.end():]))
    lines = text.split("\n")
    shown = code.split("\n")
    for i, line in enumerate(shown):
        if not CALL.match(line.rstrip()):
            continue
        indent = lines[i][:len(lines[i]) - len(lines[i].lstrip())]
        found.append((i + 1, 0, "left out: " + lines[i].strip(),
                      "\n".join(lines[:i] + [indent + ";"] + lines[i + 1:])))
        if i + 1 < len(lines) and CALL.match(shown[i + 1].rstrip()) and shown[i + 1].startswith(indent) and \
                not shown[i + 1].startswith(indent + "\t"):
            found.append((i + 1, 1, "swapped: " + lines[i].strip(),
                          "\n".join(lines[:i] + [lines[i + 1], lines[i]] + lines[i + 2:])))
    return found


def run(command, seconds):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def build(names):
    return not names or run(["make", "-j2", "VARIANT=debug", "LTO="] + ["build/debug/" + name for name in names], 600)


def object_of(path):
    return "obj/" + path[:-2] + ".o"


def code_of(path):
    """What the compiler makes of the file."""
    subprocess.check_call(["objcopy", "--strip-debug", "build/debug/" + object_of(path), "build/changed.o"])
    with open("build/changed.o", "rb") as file:
        return file.read()


def fails(suite):
    """A program that does not link fails too."""
    _, command, seconds, needs = suite
    return not (build(needs) and run(command, seconds))


def judged():
    """(path, line, what) of each change that mutants-judged has."""
    with open("test/tools/mutants-judged", encoding="utf-8") as file:
        entries = [entry.split("\n") for entry in file.read().split("\n\n")[1:]]
    return {(entry[0], entry[1].strip(), entry[2].strip()) for entry in entries}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("-n", type=int, default=100)
    arguments.add_argument("-s", type=int, default=1)
    arguments.add_argument("-l", default=os.path.abspath("build/mutate/log"))
    arguments.add_argument("-q", action="store_true", help="without e2e and matrix: what survives may be killed by them")
    arguments.add_argument("files", nargs="*")
    options = arguments.parse_args()
    tree = os.path.abspath("build/mutate/tree")
    here = os.getcwd()
    os.makedirs("build/mutate", exist_ok=True)
    if not os.path.isdir(tree):
        subprocess.check_call(["git", "clone", "-q", here, tree])
    subprocess.check_call(["git", "-C", tree, "fetch", "-q", here, "HEAD"])
    subprocess.check_call(["git", "-C", tree, "reset", "-q", "--hard", "FETCH_HEAD"])
    os.chdir(tree)
    files = options.files or sorted(glob.glob("src/core/*/*.c") + ["src/shell/process/guardian.c"])
    if not build([name for suite in SUITES for name in suite[3]] + [object_of(path) for path in files]):
        sys.exit("HEAD does not build")
    unchanged = {path: code_of(path) for path in files}
    known = judged()
    tried = set()
    if os.path.exists(options.l):
        with open(options.l, encoding="utf-8") as log:
            tried = {line.split("\t")[1] for line in log if "\t" in line}
    texts = {path: open(path, encoding="utf-8").read() for path in files}
    drawn = [(path, *place) for path in files for place in places(path, texts[path])]
    random.Random(options.s).shuffle(drawn)
    killed = survived = 0
    suites = SUITES[:-2] if options.q else SUITES
    for path, line, column, what, text in drawn:
        if killed + survived >= options.n:
            break
        source = texts[path].split("\n")[line - 1].strip()
        key = "%s %s %d %s" % (path, source, column, what)
        if key in tried or (path, source, what) in known:
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        verdict = None
        if build([object_of(path)]) and code_of(path) != unchanged[path]:
            verdict = next((suite[0] for suite in suites if fails(suite)), "SURVIVED")
        with open(path, "w", encoding="utf-8") as file:
            file.write(texts[path])
        if verdict is None:
            continue
        killed += verdict != "SURVIVED"
        survived += verdict == "SURVIVED"
        with open(options.l, "a", encoding="utf-8") as log:
            log.write("%s\t%s\n" % (verdict, key))
        if verdict == "SURVIVED":
            print("%s:%d: %s\n\t%s" % (path, line, what, source), flush=True)
    print("%d changes: %d killed, %d survived" % (killed + survived, killed, survived))


main()
