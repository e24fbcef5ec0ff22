// Package giftsite tests the gift site in a real browser, Chromium, on the screens of a phone and of a desktop computer.
// The tests are built with the tag "browser" and run by `make browser`, which fetches what they need.
package giftsite
