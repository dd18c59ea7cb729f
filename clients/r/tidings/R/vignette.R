# The engine of the vignette: a page of HTML whose blocks `<pre class="r">` are R code. No further package is
# needed to build it. The code runs where TIDINGS_URL names a server.

.onLoad <- function(libname, pkgname) {
  vignetteEngine("html", weave = weave_page, tangle = tangle_page, pattern = "[.]Rhtml$", package = pkgname)
}

weave_page <- function(file, ...) {
  page <- sub("[.]Rhtml$", ".html", basename(file))
  file.copy(file, page, overwrite = TRUE)
  page
}

tangle_page <- function(file, ...) {
  lines <- readLines(file, encoding = "UTF-8")
  code <- character()
  is_code <- FALSE
  for (line in lines) {
    if (line == "</pre>") is_code <- FALSE
    if (is_code) code <- c(code, line)
    if (line == "<pre class=\"r\">") is_code <- TRUE
  }
  for (sign in list(c("&lt;", "<"), c("&gt;", ">"), c("&amp;", "&"))) code <- gsub(sign[1], sign[2], code, fixed = TRUE)
  script <- sub("[.]Rhtml$", ".R", basename(file))
  writeLines(c("if (nzchar(Sys.getenv(\"TIDINGS_URL\"))) {", code, "}"), script, useBytes = TRUE)
  script
}
