// Package giftsite tests the gift site and the console of the sandbox in Chromium, on the screens of a phone and of a desktop
// computer. The tests have the build tag browser and run with `make browser`, which installs what they need.
package giftsite
