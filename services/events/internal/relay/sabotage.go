//go:build !relayfault

package relay

// sabotage does nothing: only the build tag relayfault makes a relay that is broken on purpose.
func sabotage(*Relay) {}
