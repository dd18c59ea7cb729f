# One function for each question of the API. Parameters have the names of docs/API.md, except `in`, a reserved
# word of R. NULL leaves a parameter out, so that the default is the server's.

# A question with rows.
question <- function(con, lang, name, parameters, series = NULL) {
  ask_rows(con, corpus_path(con, lang, name), parameters, series)
}

tid_concordance <- function(con, query, size = 100, context = NULL, fields = NULL, sort = NULL, sample = NULL,
                            seed = NULL, longest = NULL, order = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  # A stream without a size has all hits.
  size <- if (is.null(sample) && is.finite(size)) size
  question(con, lang, "query", list(
    q = query, size = size, context = context, fields = fields, sort = sort, sample = sample, seed = seed,
    longest = longest, order = order, filter = filter, "in" = in_corpus
  ))
}

tid_parallel <- function(con, query, to, with = NULL, without = NULL, size = 100, fields = NULL, order = NULL,
                         filter = NULL, in_corpus = NULL, lang = NULL) {
  size <- if (is.finite(size)) size
  question(con, lang, "parallel", list(
    q = query, to = to, with = with, without = without, size = size, fields = fields, order = order, filter = filter,
    "in" = in_corpus
  ))
}

tid_count <- function(con, query, filter = NULL, in_corpus = NULL, lang = NULL) {
  answer <- ask_object(con, corpus_path(con, lang, "count"), list(q = query, filter = filter, "in" = in_corpus))
  number <- function(value) if (is.null(value)) NA_real_ else value
  rows <- data.frame(
    hits = number(answer$hits), tokens = number(answer$tokens), per_million = number(answer$per_million)
  )
  answer_attributes(rows, answer[setdiff(names(answer), names(rows))])
}

tid_frequencies <- function(con, query, by = NULL, limit = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "freq", list(q = query, by = by, limit = limit, filter = filter, "in" = in_corpus))
}

tid_group <- function(con, query, by = NULL, min = NULL, limit = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  grouped(con, lang, "group", list(
    q = query, by = by, min = min, limit = limit, filter = filter, "in" = in_corpus
  ), c("hits", "share", "per_million"))
}

tid_crosstab <- function(con, query, by = NULL, limit = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  grouped(con, lang, "crosstab", list(q = query, by = by, limit = limit, filter = filter, "in" = in_corpus), c(
    "query", "hits", "hit_documents", "tokens", "documents", "per_million", "document_share", "query_share"
  ))
}

# A question whose rows have a list of values: one column for each, with the names that the answer gives them. CSV puts
# blanks between the items of a list, and values have blanks, too.
grouped <- function(con, lang, name, parameters, columns) {
  answer <- ask_object(con, corpus_path(con, lang, name), parameters)
  rows <- answer$rows
  values <- lapply(seq_along(answer$by), function(level) {
    vapply(rows, function(row) as.character(row$values)[level], "")
  })
  others <- lapply(columns, function(column) {
    cells <- lapply(rows, function(row) if (is.null(row[[column]])) NA else row[[column]])
    if (column %in% number_columns) as.numeric(cells) else as.character(cells)
  })
  frame <- data.frame(c(setNames(values, answer$by), setNames(others, columns)), check.names = FALSE)
  answer_attributes(frame, answer[setdiff(names(answer), "rows")])
}

tid_dispersion <- function(con, query, parts = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "dispersion", list(q = query, parts = parts, filter = filter, "in" = in_corpus))
}

tid_timeline <- function(con, query, by = NULL, panel = NULL, confidence = NULL, filter = NULL, in_corpus = NULL,
                         lang = NULL) {
  rows <- question(con, lang, "timeline", list(
    q = query, by = by, panel = panel, confidence = confidence, filter = filter, "in" = in_corpus
  ))
  with_date(rows)
}

tid_trends <- function(con, by = NULL, attribute = NULL, min = NULL, fdr = NULL, direction = NULL, effect = NULL,
                       panel = NULL, limit = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "trends", list(
    by = by, attribute = attribute, min = min, fdr = fdr, direction = direction, effect = effect, panel = panel,
    limit = limit, filter = filter, "in" = in_corpus
  ), series = "per_million")
}

tid_seasons <- function(con, by = NULL, attribute = NULL, min = NULL, fdr = NULL, effect = NULL, all_words = NULL,
                        panel = NULL, limit = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "seasons", list(
    by = by, attribute = attribute, min = min, fdr = fdr, effect = effect, all_words = all_words, panel = panel,
    limit = limit, filter = filter, "in" = in_corpus
  ), series = c("months", "per_million"))
}

tid_steps <- function(con, by = NULL, attribute = NULL, min = NULL, fdr = NULL, direction = NULL, effect = NULL,
                      all_words = NULL, panel = NULL, limit = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  rows <- question(con, lang, "steps", list(
    by = by, attribute = attribute, min = min, fdr = fdr, direction = direction, effect = effect,
    all_words = all_words, panel = panel, limit = limit, filter = filter, "in" = in_corpus
  ), series = "per_million")
  with_date(rows)
}

tid_bursts <- function(con, by = NULL, attribute = NULL, panel = NULL, limit = NULL, filter = NULL, in_corpus = NULL,
                       lang = NULL) {
  rows <- question(con, lang, "bursts", list(
    by = by, attribute = attribute, panel = panel, limit = limit, filter = filter, "in" = in_corpus
  ))
  with_date(rows)
}

# Adds the first day of each time step, for plots and time series.
with_date <- function(rows) {
  about <- attr(rows, "tidings")
  rows <- cbind(date = step_start(rows$bin), rows)
  attr(rows, "tidings") <- about
  rows
}

tid_new_words <- function(con, since = NULL, attribute = NULL, min_sites = NULL, min_days = NULL, min_documents = NULL,
                          names = NULL, fdr = NULL, limit = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "new-words", list(
    since = since, attribute = attribute, min_sites = min_sites, min_days = min_days, min_documents = min_documents,
    names = names, fdr = fdr, limit = limit, filter = filter, "in" = in_corpus
  ))
}

tid_neologisms <- function(con, since = NULL, status = NULL, attribute = NULL, min_sites = NULL, min_days = NULL,
                           min_documents = NULL, names = NULL, known = NULL, all_words = NULL, fdr = NULL,
                           limit = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "neologisms", list(
    since = since, status = status, attribute = attribute, min_sites = min_sites, min_days = min_days,
    min_documents = min_documents, names = names, known = known, all_words = all_words, fdr = fdr, limit = limit,
    filter = filter, "in" = in_corpus
  ))
}

tid_collocations <- function(con, query, measure = NULL, attribute = NULL, left = NULL, right = NULL, sentence = NULL,
                             min = NULL, punctuation = NULL, limit = NULL, filter = NULL, in_corpus = NULL,
                             lang = NULL) {
  rows <- question(con, lang, "colloc", list(
    q = query, measure = measure, attribute = attribute, left = left, right = right, sentence = sentence, min = min,
    punctuation = punctuation, limit = limit, filter = filter, "in" = in_corpus
  ))
  names(rows) <- sub("^scores\\.", "", names(rows))
  rows
}

tid_sketch <- function(con, lemma, pos = NULL, min = NULL, size = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "sketch", list(
    lemma = lemma, pos = pos, min = min, size = size, filter = filter, "in" = in_corpus
  ))
}

tid_sketch_diff <- function(con, lemma, other, pos = NULL, min = NULL, size = NULL, filter = NULL, in_corpus = NULL,
                            lang = NULL) {
  question(con, lang, "sketch-diff", list(
    lemma = lemma, other = other, pos = pos, min = min, size = size, filter = filter, "in" = in_corpus
  ))
}

tid_thesaurus <- function(con, lemma, pos = NULL, min = NULL, limit = NULL, filter = NULL, in_corpus = NULL,
                          lang = NULL) {
  question(con, lang, "thesaurus", list(
    lemma = lemma, pos = pos, min = min, limit = limit, filter = filter, "in" = in_corpus
  ))
}

tid_keywords <- function(con, focus, against = NULL, measure = NULL, add = NULL, min = NULL, panel = NULL, fdr = NULL,
                         attribute = NULL, ngram = NULL, punctuation = NULL, limit = NULL, filter = NULL,
                         in_corpus = NULL, lang = NULL) {
  question(con, lang, "keywords", list(
    focus = focus, against = against, measure = measure, add = add, min = min, panel = panel, fdr = fdr,
    attribute = attribute, ngram = ngram, punctuation = punctuation, limit = limit, filter = filter, "in" = in_corpus
  ))
}

tid_terms <- function(con, focus, against = NULL, measure = NULL, add = NULL, min = NULL, min_documents = NULL,
                      names = NULL, panel = NULL, limit = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "terms", list(
    focus = focus, against = against, measure = measure, add = add, min = min, min_documents = min_documents,
    names = names, panel = panel, limit = limit, filter = filter, "in" = in_corpus
  ))
}

tid_compare <- function(con, before, after, min = NULL, attribute = NULL, fdr = NULL, direction = NULL, effect = NULL,
                        confidence = NULL, panel = NULL, punctuation = NULL, limit = NULL, filter = NULL,
                        in_corpus = NULL, lang = NULL) {
  question(con, lang, "compare", list(
    before = before, after = after, min = min, attribute = attribute, fdr = fdr, direction = direction,
    effect = effect, confidence = confidence, panel = panel, punctuation = punctuation, limit = limit,
    filter = filter, "in" = in_corpus
  ))
}

tid_meaning <- function(con, before, after, min = NULL, window = NULL, collocates = NULL, names = NULL, fdr = NULL,
                        limit = NULL, filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "meaning", list(
    before = before, after = after, min = min, window = window, collocates = collocates, names = names, fdr = fdr,
    limit = limit, filter = filter, "in" = in_corpus
  ))
}

tid_words <- function(con, regex = NULL, min = NULL, attribute = NULL, ngram = NULL, punctuation = NULL, limit = NULL,
                      filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "words", list(
    regex = regex, min = min, attribute = attribute, ngram = ngram, punctuation = punctuation, limit = limit,
    filter = filter, "in" = in_corpus
  ))
}

tid_names <- function(con, type = NULL, since = NULL, min_documents = NULL, min_sites = NULL, limit = NULL,
                      filter = NULL, in_corpus = NULL, lang = NULL) {
  question(con, lang, "names", list(
    type = type, since = since, min_documents = min_documents, min_sites = min_sites, limit = limit, filter = filter,
    "in" = in_corpus
  ))
}

tid_quotes <- function(con, by = NULL, pronouns = NULL, min_documents = NULL, limit = NULL, filter = NULL,
                       in_corpus = NULL, lang = NULL) {
  question(con, lang, "quotes", list(
    by = by, pronouns = pronouns, min_documents = min_documents, limit = limit, filter = filter, "in" = in_corpus
  ))
}

tid_documents <- function(con, filter = NULL, fields = NULL, order = NULL, size = Inf, in_corpus = NULL, lang = NULL) {
  question(con, lang, "documents", list(
    filter = filter, fields = fields, order = order, size = if (is.finite(size)) size, "in" = in_corpus
  ))
}

tid_document <- function(con, id, lang = NULL) {
  if (length(id) == 0) stop("no id of a document", call. = FALSE)
  rows <- lapply(id, function(one) {
    document_row(ask_object(con, corpus_path(con, lang, paste0("documents/", utf8_escape(one))), list()))
  })
  names <- unique(unlist(lapply(rows, names)))
  columns <- lapply(setNames(nm = names), function(name) {
    unlist(lapply(rows, function(row) if (is.null(row[[name]])) NA else row[[name]]))
  })
  frame <- data.frame(columns, check.names = FALSE)
  for (name in intersect(c("date", "seen"), names)) frame[[name]] <- as.Date(frame[[name]])
  frame
}

# The values of one row: `doc_id` and `text` as quanteda and tidytext call them, then the metadata and the fields.
document_row <- function(answer) {
  text <- if (isTRUE(answer$restricted)) NA_character_ else paste(answer$paragraphs, collapse = "\n\n")
  plain <- answer[intersect(c("date", "seen", "title", "url", "tokens", "availability"), names(answer))]
  fields <- answer$fields[setdiff(names(answer$fields), names(plain))]
  c(list(doc_id = answer$id, text = text), plain, fields)
}
