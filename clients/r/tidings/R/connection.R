tidings_connect <- function(url = "http://127.0.0.1:7878", token = Sys.getenv("TIDINGS_TOKEN"), lang = NULL,
                            timeout = 60) {
  stopifnot(is.character(url), length(url) == 1, is.character(token), length(token) == 1)
  if (!grepl("^https?://", url)) tidings_stop(paste0("the address begins with http:// or https://, found ", url))
  if (grepl("[[:cntrl:]]", token)) tidings_stop("the token has a line break or another control character")
  connection <- list(url = sub("/+$", "", url), token = token, lang = lang, timeout = timeout)
  class(connection) <- "tidings"
  known <- tid_corpora(connection)$corpus
  if (is.null(lang) && length(known) == 1) connection$lang <- known
  check_lang(connection$lang, known)
  connection
}

check_lang <- function(lang, known) {
  if (!is.null(lang) && !lang %in% known) {
    tidings_stop(paste0("no corpus ", lang, "; available: ", paste(known, collapse = ", ")))
  }
}

print.tidings <- function(x, ...) {
  corpora <- tid_corpora(x)
  # The token is not printed.
  cat("Tidings server at ", x$url, if (!is.null(x$lang)) paste0(", corpus ", x$lang), "\n", sep = "")
  print(corpora[c("corpus", "documents", "tokens", "first_day", "last_day")], row.names = FALSE)
  invisible(x)
}

tid_corpora <- function(con) {
  ask_rows(con, "corpora", list())
}

tid_about <- function(x) {
  attr(x, "tidings")
}

# The address of a request. NULL parameters are left out; TRUE and FALSE are those of the API.
request_address <- function(con, path, parameters) {
  parameters <- Filter(Negate(is.null), parameters)
  text <- vapply(parameters, parameter_text, "")
  pairs <- paste0(names(parameters), "=", vapply(enc2utf8(text), utf8_escape, ""))
  paste0(con$url, "/api/v1/", path, if (length(parameters)) paste0("?", paste(pairs, collapse = "&")))
}

parameter_text <- function(value) {
  if (is.logical(value)) return(tolower(as.character(value)))
  if (inherits(value, "Date")) return(format(value, "%Y-%m-%d"))
  if (is.numeric(value)) return(format(value, scientific = FALSE, digits = 15))
  paste(value, collapse = ",")
}

# Percent-encoding of the UTF-8 bytes, also in locales of other encodings.
utf8_escape <- function(text) {
  bytes <- charToRaw(text)
  plain <- bytes %in% charToRaw("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
  paste(ifelse(plain, rawToChar(bytes, multiple = TRUE), paste0("%", toupper(format(bytes)))), collapse = "")
}

ask <- function(con, path, parameters) {
  if (!inherits(con, "tidings")) stop("the first argument is a connection made by tidings_connect()", call. = FALSE)
  response <- http_get(request_address(con, path, parameters), con$token, con$timeout)
  if (response$status != 200L) server_stop(response)
  response
}

# An answer of one JSON object.
ask_object <- function(con, path, parameters) {
  parse_json(body_text(ask(con, path, parameters)))
}

# The rows of an answer; its other properties are the attribute "tidings". Fields of documents are text, and
# `series` names columns with a number for each time step.
ask_rows <- function(con, path, parameters, series = NULL) {
  response <- ask(con, path, c(parameters, format = "csv"))
  rows <- read_rows(response$body, setdiff(split_names(parameters$fields), date_columns), series)
  header <- response$headers[["tidings-about"]]
  answer_attributes(rows, if (is.null(header)) list() else parse_json(header))
}

split_names <- function(fields) {
  if (is.null(fields)) character() else trimws(unlist(strsplit(fields, ",", fixed = TRUE)))
}

# Puts what an answer rests on into one list, `about` first.
answer_attributes <- function(rows, properties) {
  about <- properties$about
  properties$about <- NULL
  if (identical(about$exactness$kind, "cut-off")) {
    unknown <- "the answer is cut off: a limit stopped the search"
    warning(if (is.null(about$warning)) unknown else about$warning, call. = FALSE)
  }
  attr(rows, "tidings") <- c(about, properties)
  rows
}

# The path of a question about the corpus of a language.
corpus_path <- function(con, lang, question) {
  lang <- if (is.null(lang)) con$lang else lang
  if (is.null(lang)) {
    known <- paste(tid_corpora(con)$corpus, collapse = ", ")
    tidings_stop(paste0("the server has several corpora (", known, "): give lang, here or in tidings_connect()"))
  }
  paste0(utf8_escape(lang), "/", question)
}
