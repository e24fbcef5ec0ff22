package delivery_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// postBare does the least that a sender must do: sign, post and read the answer.
func postBare(b *testing.B, urls []string, tenants []tenant) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	var group sync.WaitGroup
	for range senders {
		group.Go(func() {
			for n := next.Add(1); n <= backlog; n = next.Add(1) {
				to := int(n) % len(urls)
				if err := post(b, client, urls[to], tenants[to].secret); err != nil {
					b.Errorf("bare post: %v", err)
					return
				}
			}
		})
	}
	group.Wait()
}

func post(b *testing.B, client *http.Client, url, secret string) error {
	b.Helper()
	now := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(append([]byte(now+"."), event...))
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(event))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Service-Signature", "t="+now+",v1="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}
