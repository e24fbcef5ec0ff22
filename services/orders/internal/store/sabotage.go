//go:build !planted

package store

// sabotage does nothing: only the build tag planted makes statements that read other tenants' orders on purpose.
func sabotage(statement string) string { return statement }
