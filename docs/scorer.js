// How the search of the site ranks: symptoms (docs/symptoms.txt, whose scores are Sphinx's: 100 for a whole one), exact names,
// titles, parts of names, text. Of names that are alike, the one with the shortest path is first.
"use strict";

var Scorer = {
    objNameMatch: 80,
    objPartialMatch: 20,
    objPrio: { 0: 0, 1: 0, 2: 0 },
    objPrioDefault: 0,
    title: 40,
    partialTitle: 12,
    term: 5,
    partialTerm: 2,
    score: ([, title, , , score, , kind]) => (kind === "object" ? score - title.split(".").length - title.length / 100 : score),
};
