//go:build planted

package post

import (
	"math/rand/v2"
	"net/http"
	"os"
)

// sabotage takes one webhook in 50 for delivered that nobody sent, when PLANTED_BUG is unsent.
func sabotage(client *http.Client) *http.Client {
	if os.Getenv("PLANTED_BUG") != "unsent" {
		return client
	}
	careless := *client
	careless.Transport = unsent{client.Transport}
	return &careless
}

const unsentIn = 50

type unsent struct{ http.RoundTripper }

func (u unsent) RoundTrip(r *http.Request) (*http.Response, error) {
	if rand.N(unsentIn) > 0 { //nolint:gosec // Any webhook will do.
		return u.RoundTripper.RoundTrip(r)
	}
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, nil
}
