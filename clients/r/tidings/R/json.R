# A parser of JSON (RFC 8259) in base R, for errors, metadata and counts. Rows of answers travel as CSV,
# which R reads in C.

# Tokens of JSON: strings, numbers, literals, punctuation.
json_token <- "\"(?:[^\"\\\\]|\\\\.)*\"|-?[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|[][{}:,]"

# Objects become named lists, arrays of scalars of one type become vectors, other arrays lists, null NULL.
parse_json <- function(text) {
  text <- enc2utf8(paste(text, collapse = "\n"))
  # Bytes, because R looks for a character of UTF-8 from the beginning of its text.
  found <- gregexpr(json_token, text, perl = TRUE, useBytes = TRUE)[[1]]
  if (found[1] < 0) stop("no JSON")
  Encoding(text) <- "bytes"
  tokens <- regmatches(text, list(found))[[1]]
  Encoding(tokens) <- "UTF-8"
  at <- 1L
  take <- function() {
    token <- tokens[at]
    if (is.na(token)) stop("JSON ends too early")
    at <<- at + 1L
    token
  }
  expect <- function(wanted) if (take() != wanted) stop("JSON without ", wanted)
  members <- function(close, member) {
    values <- list()
    if (identical(tokens[at], close)) {
      take()
      return(values)
    }
    repeat {
      values <- member(values)
      sign <- take()
      if (sign == close) return(values)
      if (sign != ",") stop("JSON without ,")
    }
  }
  value <- function() {
    token <- take()
    switch(substr(token, 1, 1),
      "{" = members("}", function(values) {
        name <- json_string(take())
        expect(":")
        values[name] <- list(value())
        values
      }),
      "[" = simplify(members("]", function(values) c(values, list(value())))),
      "\"" = json_string(token),
      "t" = TRUE,
      "f" = FALSE,
      "n" = NULL,
      as.numeric(token)
    )
  }
  result <- value()
  if (at <= length(tokens)) stop("text after the JSON value")
  result
}

# The array as a vector if all of its values are scalars of one type.
simplify <- function(values) {
  types <- unique(vapply(values, typeof, ""))
  is_plain <- length(types) == 1 && types %in% c("character", "double", "logical") && all(lengths(values) == 1)
  if (is_plain) unlist(values) else values
}

json_string <- function(token) {
  text <- substr(token, 2, nchar(token) - 1)
  if (!grepl("\\", text, fixed = TRUE)) return(text)
  escapes <- gregexpr("\\\\u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\\\u[0-9a-fA-F]{4}|\\\\.",
    text, perl = TRUE)
  regmatches(text, escapes) <- list(vapply(regmatches(text, escapes)[[1]], json_escape, ""))
  text
}

json_escape <- function(escape) {
  simple <- c("\\n" = "\n", "\\t" = "\t", "\\r" = "\r", "\\b" = "\b", "\\f" = "\f")
  if (escape %in% names(simple)) return(simple[[escape]])
  if (substr(escape, 2, 2) != "u") return(substr(escape, 2, 2))
  units <- strtoi(regmatches(escape, gregexpr("[0-9a-fA-F]{4}", escape))[[1]], 16L)
  # Two units are a surrogate pair of UTF-16.
  if (length(units) == 2) units <- 0x10000 + (units[1] - 0xD800) * 0x400 + (units[2] - 0xDC00)
  intToUtf8(units)
}
