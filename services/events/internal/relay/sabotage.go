//go:build !planted

package relay

// sabotage does nothing: only the build tag planted makes a relay that is broken on purpose.
func sabotage(*Relay) {}
