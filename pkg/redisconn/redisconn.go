// Package redisconn opens Redis the one way the platform uses it: callers go on without it when it does not answer in
// time.
package redisconn

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/redis/go-redis/v9"
)

// Open makes a client whose calls end with their context and are not tried again: a caller that has spent its budget
// goes on without Redis. The error of a bad URL does not repeat it, because it may hold a password.
func Open(address string) (*redis.Client, error) {
	opts, err := redis.ParseURL(address)
	if err != nil {
		if parsing, ok := errors.AsType[*url.Error](err); ok {
			err = parsing.Err
		}
		return nil, fmt.Errorf("redis url: %w", err)
	}
	opts.MaxRetries = -1
	opts.DialerRetries = 1
	opts.ContextTimeoutEnabled = true
	return redis.NewClient(opts), nil
}

// Check refuses an address that Open would refuse. An empty one is valid.
func Check(address string) error {
	if address == "" {
		return nil
	}
	client, err := Open(address)
	if err != nil {
		return err
	}
	return client.Close()
}
