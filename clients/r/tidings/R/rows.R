# CSV of the API to data frames. Types go by the name of the column and never by the content, so that the
# words "NA", "TRUE" and "1e5" stay words.

number_columns <- c(
  "add", "after", "after_compared", "after_document_share", "after_documents", "after_per_million", "anywhere", "band.high",
  "band.low", "before", "before_compared", "before_document_share", "before_documents", "before_per_million", "days",
  "days_with_documents", "days_with_runs", "difference", "din", "distance", "document_share", "documents", "focus",
  "focus_documents", "focus_per_million", "generation", "growth", "health", "hit_documents", "hits", "kendall_z", "log_likelihood",
  "log_ratio", "mentions", "months", "other_score", "other_together", "p", "part", "peak", "per_million",
  "position", "q", "query_share", "quoted_tokens", "quotes", "reference", "reference_documents",
  "reference_per_million", "score",
  "share", "similarity", "site_log_ratio", "sites", "strength", "together", "tokens"
)
date_columns <- c("citation.date", "date", "first", "first_day", "first_seen", "last_day", "last_seen", "seen")
logical_columns <- c("candidate", "restricted")

read_rows <- function(body, fields = NULL, series = NULL) {
  # A file keeps the bytes of UTF-8; a text connection would translate them to the locale.
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(body, file)
  rows <- read.csv(file, colClasses = "character", na.strings = character(), encoding = "UTF-8", check.names = FALSE)
  for (name in names(rows)) {
    text <- rows[[name]]
    rows[[name]] <- if (name %in% fields) without_guard(text)
      else if (name %in% series) I(lapply(split_series(text), as.numeric))
      else typed_column(name, text)
  }
  rows
}

# The items of lists of numbers; one that is not known is empty, also at the end.
split_series <- function(text) {
  strsplit(ifelse(nzchar(text), paste0(text, " "), text), " ", fixed = TRUE)
}

typed_column <- function(name, text) {
  if (name %in% number_columns || startsWith(name, "scores.")) return(as.numeric(replace(text, text == "", NA)))
  if (name %in% date_columns) return(as.Date(replace(text, text == "", NA), "%Y-%m-%d"))
  if (name %in% logical_columns) return(text == "true")
  without_guard(text)
}

# Text as it was before the server put an apostrophe before cells that a spreadsheet would run as a formula.
without_guard <- function(text) {
  sub("^'(?=[\\s[:cntrl:]]*[-=+@\uff1d\uff0b\uff0d\uff20])", "", text, perl = TRUE)
}

# The first day of time steps such as 2026, 2026-H1, 2026-Q3, 2026-02, 2026-W07, 2026-02-11..2026-02-20, 2026-02-11.
step_start <- function(bin) {
  year <- substr(bin, 1, 4)
  part <- substr(bin, 6, 99)
  months <- function(letter, length) {
    sprintf("%s-%02d-01", year, (as.integer(sub(letter, "", part)) - 1L) * length + 1L)
  }
  text <- rep(NA_character_, length(bin))
  at <- function(pattern, value) {
    hit <- grepl(pattern, bin)
    text[hit] <<- suppressWarnings(value)[hit]
  }
  at("^[0-9]{4}$", paste0(year, "-01-01"))
  at("-H[12]$", months("H", 6L))
  at("-Q[1-4]$", months("Q", 3L))
  at("^[0-9]{4}-[0-9]{2}$", paste0(bin, "-01"))
  at("^[0-9]{4}-[0-9]{2}-[0-9]{2}", substr(bin, 1, 10))
  days <- as.Date(text, "%Y-%m-%d")
  week <- grepl("-W[0-9]{2}$", bin)
  # Weeks of ISO 8601: the fourth of January is in week 1, and weeks begin on Monday.
  fourth <- as.Date(paste0(year[week], rep("-01-04", sum(week))), "%Y-%m-%d")
  days[week] <- fourth - (as.integer(format(fourth, "%u")) - 1L) + 7L * (as.integer(substr(part[week], 2, 3)) - 1L)
  days
}
