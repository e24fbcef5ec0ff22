// Package rules contains the decisions of webhook delivery, without any I/O: which keys receive a change,
// how a request is signed, what a response means and when to try again (API specification, sections
// Events, Webhook delivery and Signature).
package rules
