// Package giftsite is what a player sees: the pages behind a personal link, where a gift is chosen
// and an address entered. They are rendered here and need no JavaScript.
//
// The token in the path is all that authorizes. It stands in no log, span, metric or Referer, and
// a token that names no link is answered alike whether it ever did.
package giftsite
