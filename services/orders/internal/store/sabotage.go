//go:build !planted

package store

// sabotage does nothing: only the build tag planted makes statements that read what they should not, on purpose.
func sabotage(statement string) string { return statement }
