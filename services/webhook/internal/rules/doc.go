// Package rules holds the decisions of webhook delivery without any I/O: who receives a change,
// what a request carries as its signature, what an answer means and when to try again (API
// specification, sections Events, Webhook delivery and Signature).
package rules
