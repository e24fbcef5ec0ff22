// Package giftsite serves the pages behind a personal link, where a player chooses a gift and enters an address. They are
// rendered here and need no JavaScript.
//
// The token in the path is the only authorization. It is in no log, span, metric or Referer. The response to a token that
// names no link does not reveal whether it ever did.
package giftsite
