# Questions to a server on the home of `tidings demo`. clients/r/check.sh starts one; without its address
# nothing is tested here.
library(tidings)
url <- Sys.getenv("TIDINGS_URL")
if (!nzchar(url)) {
  cat("TIDINGS_URL names no server: skipped\n")
  quit("no")
}
con <- tidings_connect(url)
stopifnot(nrow(tid_corpora(con)) == 3, inherits(tryCatch(tid_count(con, "a"), error = identity), "tidings_error"))
stopifnot(inherits(tryCatch(tidings_connect(url, lang = "xx"), error = identity), "tidings_error"))
con <- tidings_connect(url, lang = "en")
printed <- capture.output(print(structure(con, class = class(con))))
stopifnot(any(grepl("corpus en", printed)))

# Concordance, count and about agree
count <- tid_count(con, "debate")
lines <- tid_concordance(con, "debate", size = Inf, fields = c("date", "site", "title"))
stopifnot(nrow(lines) == count$hits, all(tolower(lines$node) == "debate"), inherits(lines$date, "Date"))
stopifnot(tid_about(lines)$hits == count$hits, tid_about(lines)$exactness$kind == "exact")
stopifnot(tid_about(lines)$corpus == "en", tid_about(lines)$query == '[word=="debate"%c]', is.numeric(tid_about(lines)$generation))
stopifnot(nrow(tid_concordance(con, "debate", size = 7)) == 7)
sample <- tid_concordance(con, "debate", sample = 20, seed = 3)
stopifnot(nrow(sample) == 20, tid_about(sample)$exactness$kind == "sample", identical(sample, tid_concordance(con, "debate", sample = 20, seed = 3)))

# Frequencies and timelines add up
sites <- tid_frequencies(con, "debate", by = "site")
stopifnot(sum(sites$hits) == count$hits, all(sites$per_million > 0))
groups <- tid_group(con, "debate", by = c("site", "year"), limit = 10000)
stopifnot(names(groups)[1:2] == c("site", "year"), sum(groups$hits) == count$hits, abs(sum(groups$share) - 1) < 1e-6)
stopifnot(!is.unsorted(-groups$hits), tid_about(groups)$hits == count$hits, nrow(tid_group(con, "zzzz", by = "site")) == 0)
cells <- tid_crosstab(con, c("debate", '[lemma="drought"]'), by = c("site", "year"), limit = 10000)
asked <- tid_about(cells)$queries
stopifnot(length(asked) == 2, setequal(cells$query, asked), sum(cells$hits[cells$query == asked[1]]) == count$hits)
stopifnot(is.numeric(cells$document_share), is.character(cells$year), all(cells$hit_documents <= cells$documents))
parts <- tid_dispersion(con, "debate", parts = 8)
stopifnot(nrow(parts) == 8, sum(parts$hits) == count$hits, inherits(parts$first, "Date"), tid_about(parts)$dp >= 0)
for (step in c("day", "ten-days", "week", "month", "quarter", "half-year", "year")) {
  points <- tid_timeline(con, "debate", by = step)
  stopifnot(sum(points$hits) == count$hits, !anyNA(points$date), !is.unsorted(points$date, strictly = TRUE))
}
both <- tid_timeline(con, c("debate", '[lemma="drought"]'), by = "year")
asked <- tid_about(both)$queries
stopifnot(length(asked) == 2, setequal(both$query, asked), sum(both$hits[both$query == asked[1]]) == count$hits)
stopifnot(abs(sum(both$query_share[both$date == min(both$date)]) - 1) < 1e-6)
stopifnot(all(c("band.low", "band.high", "health", "tokens", "documents") %in% names(points)), tid_about(points)$step == "year")

# Tests over the vocabulary
trends <- tid_trends(con, by = "quarter")
stopifnot("drought" %in% trends$value, all(lengths(trends$per_million) == length(tid_about(trends)$bins)))
stopifnot(all(tid_trends(con, direction = "falling")$log_ratio < 0))
stopifnot(inherits(tid_bursts(con)$date, "Date"))
new <- tid_new_words(con, since = as.Date("2023-07-01"))
stopifnot("rainbank" %in% new$value, inherits(new$first_seen, "Date"))
new_desk <- tid_neologisms(con, since = as.Date("2023-07-01"))
desk <- new_desk[new_desk$value == "rainbank", ]
stopifnot(nrow(desk) == 1, desk$status == "open", isTRUE(desk$candidate), inherits(desk$citation.date, "Date"))
stopifnot(grepl("rainbank", desk$citation.node, ignore.case = TRUE), tid_about(new_desk)$states$open >= nrow(new_desk))
seasons <- tid_seasons(con, fdr = 1, effect = 1, limit = 20)
stopifnot(nrow(seasons) > 0, all(seasons$peak %in% 1:12), all(lengths(seasons$months) == 12))
steps <- tid_steps(con, by = "quarter", fdr = 1, effect = 1, direction = "rising", limit = 20)
stopifnot(nrow(steps) > 0, inherits(steps$date, "Date"), all(steps$log_ratio > 0))
stopifnot(all(lengths(steps$per_million) == length(tid_about(steps)$bins)))
near <- tid_collocations(con, "drought", measure = "log-likelihood", limit = 5)
stopifnot(nrow(near) == 5, !is.unsorted(-near$log_likelihood), is.numeric(near$log_dice))
stopifnot(nrow(tid_sketch(con, "council")) > 0)
two <- tid_sketch_diff(con, "council", "minister", min = 1)
stopifnot(nrow(two) > 0, is.numeric(two$difference), all(two$together + two$other_together > 0))
alike <- tid_thesaurus(con, "council", min = 1, limit = 5)
stopifnot(nrow(alike) == 5, !is.unsorted(-alike$similarity), !"council" %in% alike$value)
stopifnot("drought" %in% tid_keywords(con, focus = "date>=2022", limit = 100)$value)
# The demo has no translations.
stopifnot(nrow(tid_parallel(con, "drought", to = "de")) == 0)
terms <- tid_terms(con, focus = "date>=2022", limit = 20)
stopifnot(nrow(terms) > 0, is.numeric(terms$focus_documents), all(grepl(" ", terms$form)))
stopifnot("drought" %in% tid_compare(con, before = "date<=2018", after = "date>=2022", limit = 100)$value)
changed <- tid_meaning(con, before = "date<=2018", after = "date>=2022", fdr = 1, limit = 20)
stopifnot(nrow(changed) > 0, !is.unsorted(-changed$distance), is.character(changed$gained), is.numeric(changed$before))
words <- tid_words(con, limit = 3)
stopifnot(words$value[1] == "the", nrow(words) == 3, nrow(tid_words(con, regex = "dr.*")) > 0)
stopifnot(nrow(tid_names(con, limit = 5)) == 5, is.data.frame(tid_quotes(con)))

# Other letters arrive as they are
german <- tid_words(con, limit = 200, lang = "de")$value
umlauts <- grep("[\u00e4\u00f6\u00fc]", german, value = TRUE)
stopifnot(length(umlauts) > 0, all(validUTF8(german)))
stopifnot(tid_count(con, umlauts[1], lang = "de")$hits > 0)

# Documents and texts
documents <- tid_documents(con, filter = "date>=2025-10", fields = c("site", "topic"))
stopifnot(nrow(documents) == tid_about(documents)$documents, all(documents$date >= as.Date("2025-10-01")))
texts <- tid_document(con, documents$id[1:3])
stopifnot(identical(texts$doc_id, documents$id[1:3]), is.character(texts$text), inherits(texts$date, "Date"))
if (Sys.getenv("TIDINGS_SCOPE") == "admin") stopifnot(nchar(texts$text) > 200)

# Errors have the message of the server
wrong <- tryCatch(tid_concordance(con, "[lc=debate]"), error = identity)
stopifnot(inherits(wrong, "tidings_query_error"), wrong$status == 400, wrong$parameter == "q")
stopifnot(grepl("[lc=debate]\n      ^", conditionMessage(wrong), fixed = TRUE))
stopifnot(grepl("by", conditionMessage(tryCatch(tid_timeline(con, "a", by = "minute"), error = identity))))
missing <- tryCatch(tid_document(con, strrep("0", 32)), error = identity)
stopifnot(inherits(missing, "tidings_http_404"))

# A token is sent: the server refuses one that it does not know
unknown <- tryCatch(tidings_connect(url, token = "tidings_unknown"), error = identity)
stopifnot(inherits(unknown, "tidings_http_401"))

# curl, which https needs, gives the same answers
if (nzchar(Sys.which("curl"))) {
  over_curl <- function(...) tidings:::curl_get(...)
  address <- tidings:::request_address(con, "en/words", list(limit = 3, format = "csv"))
  both <- list(tidings:::http_get(address, "", 30), over_curl(address, c(Accept = "*/*"), 30))
  stopifnot(identical(both[[1]]$body, both[[2]]$body), both[[2]]$status == 200L)
  stopifnot(identical(both[[1]]$headers[["tidings-about"]], both[[2]]$headers[["tidings-about"]]))
  refused <- over_curl(sub("limit=3", "limit=x", address), c(Authorization = "Bearer tidings_unknown"), 30)
  stopifnot(refused$status %in% c(400L, 401L))
}

# The columns have the types that the server documents
description <- tidings:::parse_json(tidings:::body_text(tidings:::http_get(paste0(con$url, "/api/openapi.json"), "", 30)))
schemas <- description$components$schemas
numeric_type <- function(schema) any(c("integer", "number") %in% unlist(schema$type))
row_types <- c("Collocate", "FrequencyRow", "WordRow", "TimelinePoint", "TrendRow", "BurstRow", "NewWordRow", "Keyword",
  "Change", "NameRow", "QuoteRow", "DocumentRow", "RelationRow", "CorpusRow", "GroupRow", "CrosstabRow",
  "DispersionRow", "SeasonRow", "StepRow", "NeologismRow", "SketchDiffRow", "TermRow", "ThesaurusRow")
stopifnot(row_types %in% names(schemas))
for (type in row_types) {
  properties <- schemas[[type]]$properties
  numbers <- names(Filter(numeric_type, properties))
  stopifnot(all(numbers %in% tidings:::number_columns))
  texts <- names(Filter(function(schema) identical(schema$type, "string"), properties))
  stopifnot(!any(texts %in% tidings:::number_columns))
}

# Every question of a corpus has a function
paths <- names(description$paths)
questions <- sub("^/api/v1/\\{lang\\}/([a-z-]+).*$", "\\1", grep("^/api/v1/\\{lang\\}/[a-z-]+(/\\{id\\})?$", paths, value = TRUE))
renamed <- c(query = "concordance", colloc = "collocations", freq = "frequencies")
functions <- paste0("tid_", gsub("-", "_", ifelse(questions %in% names(renamed), renamed[questions], questions)))
stopifnot(length(questions) > 20, identical(setdiff(functions, getNamespaceExports("tidings")), character()))
cat("all questions answered\n")
