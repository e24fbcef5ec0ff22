// Package docs is the reference of the public API: its OpenAPI document and the pages people read.
//
// The document is written by hand, in the parts under openapi/, and is the one source of the
// reference page. Tests hold it against the operation table, the contracts as restjson writes them,
// the codes of pkg/problem and the limits of fields, so that it cannot drift. The page of errors,
// to which the type of every problem leads, is made from the registry of pkg/problem and a table of
// advice in this package.
//
// Everything is made once, at New. The pages are complete without scripts, fonts or any other
// request, and their Content-Security-Policy allows none.
package docs
