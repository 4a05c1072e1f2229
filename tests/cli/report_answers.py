# SPDX-License-Identifier: Apache-2.0
"""The table of answers in cli/REPORT.md: report_answers.py CHROMIUM REPORT.md.

Runs each command of the table in the working directory, makes the page, and looks for what the table says in the section
that the table names. A row is "== QUESTION", a problem is a line on standard output."""
import os, re, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from browser import Browser

VINCI = os.environ["VINCI"]


def rows(document):
    """Cells of the table: question, commands, section, pattern."""
    with open(document, encoding="utf-8") as text:
        part = text.read().split("## Where the answer stands\n")[1].split("\n## ")[0]
    lines = [line for line in part.split("\n") if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def run(words):
    done = subprocess.run([VINCI] + words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print("vinci %s ends with %d: %s" % (" ".join(words), done.returncode, done.stderr))
    return done.returncode == 0


class Results:
    """Folders by command: a command of several rows runs once."""

    def __init__(self):
        self.folders = {}

    def of(self, command):
        words = command.split()[1:]
        output = words.index("-o") + 1
        key = " ".join(words[:output])
        if key not in self.folders:
            words[output] = self.folders[key] = "out%d" % len(self.folders)
            run(words)
        return self.folders[key]


def plain(text):
    return re.sub(r"\s+", " ", text.replace("\u202f", " ").replace("\u00a0", " "))


def look(browser, results, row):
    question, commands, section, wanted = row
    folders = [results.of(command) for command in re.findall("`([^`]*)`", commands)]
    if not 1 <= len(folders) <= 2 or not run(["report"] + folders + ["--output=page.html", "--quiet"]):
        return print("no page of %r" % folders)
    browser.open("page.html")
    parts = browser.run("[...document.querySelectorAll('section')].map(part => [part.querySelector('h2').textContent, part.innerText])")
    links = browser.run("[...document.querySelectorAll('#nav a')].map(link => link.textContent)")
    shown = [plain(text) for title, text in parts if title == section]
    pattern = ".*?".join(re.escape(piece.strip()) for piece in wanted.split("..."))
    if not shown or section not in links:
        return print("the page has the sections %r, not %r" % ([title for title, _ in parts], section))
    if not re.search(pattern, shown[0]):
        print("the section says %r, not %r" % (shown[0][:900], wanted))
    if browser.errors:
        print("errors of the console: %r" % browser.errors)


def main():
    program, document = sys.argv[1:3]
    browser, results = Browser(program), Results()
    try:
        for row in rows(document):
            print("== " + row[0], flush=True)
            if len(row) != 4:
                print("the row has %d cells, not 4" % len(row))
                continue
            try:
                look(browser, results, row)
            except Exception as error:  # a wrong page is a result, not the end of the test
                print("%s: %s" % (type(error).__name__, error))
    finally:
        browser.close()
    print("== end", flush=True)


main()
