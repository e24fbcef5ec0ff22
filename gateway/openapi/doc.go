// Package openapi builds and serves the reference of the public API: the OpenAPI document and two HTML pages.
//
// The document is written by hand in the files of document/. Its examples come from examples.yaml, the texts of the page of
// errors from errors.yaml. Tests compare the document with the operations, with the contracts as pkg/restjson writes them,
// with the codes of pkg/problem and with the field lengths, so that it cannot drift.
//
// Everything is made once, by New. The pages need no scripts, fonts or further requests, and their Content-Security-Policy
// allows none.
package openapi
