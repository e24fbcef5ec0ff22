package e2e_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/e2e/contract"
	"github.com/partnergifting/platform/deploy/local/inbox"
)

// document is the served OpenAPI document, which all traffic is held against.
type document struct {
	read     sync.Once
	contract *contract.Contract
}

// served reads the document the first time.
func (p *platform) served(t *testing.T) *contract.Contract {
	t.Helper()
	p.document.read.Do(func() {
		a := p.send(t, call{method: http.MethodGet, path: "/openapi.json"})
		require.Equal(t, http.StatusOK, a.status)
		var err error
		p.document.contract, err = contract.Read([]byte(a.body))
		require.NoError(t, err)
	})
	require.NotNil(t, p.document.contract, "the OpenAPI document could not be read")
	return p.document.contract
}

// judge holds a request and its answer against the document. A request may be wrong only when it was refused.
func (p *platform) judge(t *testing.T, req *http.Request, sent string, a answer) {
	t.Helper()
	assert.NoError(t, p.served(t).Check(contract.Exchange{
		Method: req.Method, URL: req.URL, Header: req.Header, Sent: []byte(sent),
		Status: a.status, AnswerHeader: a.header, Received: []byte(a.body),
	}))
}

// judgeWebhooks holds what arrived against the webhooks of the document.
func (p *platform) judgeWebhooks(t *testing.T, arrived []inbox.Delivery) {
	t.Helper()
	for _, d := range arrived {
		header := http.Header{}
		for name, value := range d.Headers {
			header.Set(name, value)
		}
		kind, _ := answer{body: d.Raw}.object(t)["type"].(string)
		assert.NoError(t, p.served(t).Webhook(kind, header, []byte(d.Raw)))
	}
}
