//go:build !planted

package idempotency

// sabotage does nothing: only the build tag planted makes requests that are taken for others on purpose.
func sabotage(r Request) Request { return r }
