# Errors are conditions of class `tidings_error`; those of the server also have `status`, `parameter` and `shown`.

tidings_stop <- function(message, class = NULL, ...) {
  stop(structure(class = c(class, "tidings_error", "error", "condition"), list(message = message, call = NULL, ...)))
}

# Raises what the server says of a request that failed: its message and, for queries, the lines with the caret.
server_stop <- function(response) {
  said <- tryCatch(parse_json(body_text(response)), error = function(error) list())
  message <- if (is.null(said$shown)) said$error else said$shown
  if (is.null(message)) message <- paste("the server answers with status", response$status)
  wait <- response$headers[["retry-after"]]
  if (!is.null(wait)) message <- paste0(message, " (try again in ", wait, " s)")
  class <- if (!is.null(said$place)) "tidings_query_error"
  tidings_stop(message, c(class, paste0("tidings_http_", response$status)),
    status = response$status, parameter = said$parameter, shown = said$shown)
}

body_text <- function(response) {
  text <- rawToChar(response$body)
  Encoding(text) <- "UTF-8"
  text
}
