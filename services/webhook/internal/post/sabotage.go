//go:build !planted

package post

import "net/http"

// sabotage does nothing: only the build tag planted makes a client that does not send on purpose.
func sabotage(client *http.Client) *http.Client { return client }
