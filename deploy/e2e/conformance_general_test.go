package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// instant is how the API writes a time.
const instant = `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?Z$`

func (p *platform) promisesOfAll(t *testing.T) {
	s := p.newShop(t, false)
	order, link := s.place(t), s.link(t)
	s.recorded(t, s.key, idOf(link), "personal_link.created")
	reads := []string{
		"/me", "/brands", "/catalog/categories", "/catalog/products?country=SE&limit=5", "/campaigns", "/orders", "/orders/" + idOf(order),
		"/orders/" + idOf(order) + "/messages", "/personal-links", "/personal-links/" + idOf(link), "/events",
	}
	t.Run("every answer but an image is JSON", func(t *testing.T) {
		for _, path := range reads {
			a := s.get(t, s.key, path)
			require.Equal(t, http.StatusOK, a.status, path)
			require.Equal(t, "application/json", a.header.Get("Content-Type"), path)
		}
	})
	t.Run("every error is a problem", func(t *testing.T) {
		for _, path := range append(reads, "/nothing") {
			requireProblem(t, s.get(t, "", path), http.StatusUnauthorized, "invalid_api_key")
		}
		requireProblem(t, s.get(t, s.key, "/nothing"), http.StatusNotFound, "not_found")
		requireProblem(t, s.get(t, s.key, "/orders?limit=0"), http.StatusBadRequest, "invalid_request")
		requireProblem(t, s.post(t, s.key, "/orders", "{}"), http.StatusBadRequest, "invalid_request")
	})
	t.Run("the base address ends in the path of the version", func(t *testing.T) {
		base, err := url.Parse(p.env["GIFTING_URL"])
		require.NoError(t, err)
		require.Equal(t, "/api/public/v1", base.Path)
		other := &platform{env: map[string]string{"GIFTING_URL": strings.TrimSuffix(p.env["GIFTING_URL"], "1") + "2"}}
		requireProblem(t, other.send(t, call{method: http.MethodGet, path: "/me", key: s.key}), http.StatusNotFound, "not_found")
	})
	stranger := p.newShop(t, false)
	limited := s.keyOf(t, s.other)
	for promise, key := range map[string]string{
		"a record of another tenant does not exist":           stranger.key,
		"a record outside of the key's brands does not exist": limited,
	} {
		t.Run(promise, func(t *testing.T) {
			for _, path := range []string{
				"/orders/" + idOf(order), "/orders/" + idOf(order) + "/messages", "/personal-links/" + idOf(link),
			} {
				requireProblem(t, s.get(t, key, path), http.StatusNotFound, "not_found")
			}
			for _, path := range []string{"/orders/" + idOf(order) + ":cancel", "/personal-links/" + idOf(link) + ":cancel"} {
				requireProblem(t, s.post(t, key, path, `{"reason": "x"}`), http.StatusNotFound, "not_found")
			}
			requireProblem(t, s.post(t, key, "/orders/"+idOf(order)+"/messages", `{"body": "x"}`), http.StatusNotFound, "not_found")
			require.Empty(t, s.list(t, key, "/orders"))
			require.Empty(t, s.list(t, key, "/personal-links"))
			require.Empty(t, s.feed(t, key))
		})
	}
	t.Run("every time is UTC with at most six decimals", p.promiseOfTimes)
	t.Run("no record of an order or a link holds name, phone, e-mail or street", func(t *testing.T) {
		for _, path := range reads {
			requireNoPersonalData(t, s.get(t, s.key, path).body)
		}
	})
}
