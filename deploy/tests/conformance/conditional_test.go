package conformance_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// tag reads the path and returns its ETag.
func (f *fixture) tag(t *testing.T, path string) string {
	t.Helper()
	a := f.Get(t, f.key, path)
	require.Equal(t, http.StatusOK, a.Status, a.Body)
	require.Regexp(t, `^"[!#-~]+"$`, a.Header.Get("ETag"), path)
	return a.Header.Get("ETag")
}

// getIf reads the path under the condition.
func (f *fixture) getIf(t *testing.T, method, path, condition string) answer {
	t.Helper()
	return f.Do(t, call{Method: method, Path: path, Key: f.key, Header: map[string]string{"If-None-Match": condition}})
}

// postIf sends a body under the condition.
func (f *fixture) postIf(t *testing.T, path, body, condition, idempotencyKey string) answer {
	t.Helper()
	request := f.postCall(path, body)
	request.IdempotencyKey, request.Header = idempotencyKey, map[string]string{"If-Match": condition}
	return f.Do(t, request)
}

const (
	outdated = `"an.other"`
	reason   = `{"reason": "Another reward."}`
)

func testConditionalReads(t *testing.T, p *platform) {
	f := newFixture(t, p)
	campaign, link, order := f.campaign(t, 5, f.putGift(t, "S")), f.link(t), f.place(t)
	orderPath, linkPath := "/orders/"+idOf(order), "/personal-links/"+idOf(link)
	campaignPath, giftPath := "/campaigns/"+campaign.GetId(), "/catalog/products/"+f.product+"?country=SE"
	f.category(t) // Otherwise another section may add it meanwhile.
	paths := []string{orderPath, linkPath, campaignPath, giftPath, "/me", "/brands", "/catalog/categories"}
	requirement(t, "CRD-1", func(t *testing.T) {
		for _, path := range paths {
			first := f.tag(t, path)
			require.Equal(t, first, f.tag(t, path), path)
		}
		require.Empty(t, f.Get(t, f.key, "/orders").Header.Get("ETag"))
	})
	requirement(t, "CRD-2", func(t *testing.T) {
		for _, path := range paths {
			full := f.Get(t, f.key, path)
			a := f.getIf(t, http.MethodGet, path, full.Header.Get("ETag"))
			require.Equal(t, http.StatusNotModified, a.Status, path)
			require.Empty(t, a.Body)
			for _, same := range []string{"ETag", "Cache-Control", "RateLimit-Policy"} {
				require.Equal(t, full.Header.Get(same), a.Header.Get(same), path)
			}
			require.Regexp(t, `^[0-9a-f]{32}$`, a.Header.Get("Request-Id"))
			require.NotEqual(t, full.Header.Get("RateLimit"), a.Header.Get("RateLimit"), "it counts against the limit")
		}
	})
	requirement(t, "CRD-3", func(t *testing.T) {
		tag := f.tag(t, orderPath)
		for condition, want := range map[string]int{
			"*": 304, "W/" + tag: 304, outdated + ", " + tag: 304, `"a,b",W/"c" , ` + tag: 304,
			outdated: 200, "W/" + outdated: 200, strings.Trim(tag, `"`): 200, tag + " " + outdated: 200, "*, " + tag: 200,
		} {
			require.Equal(t, want, f.getIf(t, http.MethodGet, orderPath, condition).Status, condition)
		}
	})
	requirement(t, "CRD-4", func(t *testing.T) {
		tag := f.tag(t, orderPath)
		head := f.getIf(t, http.MethodHead, orderPath, tag)
		require.Equal(t, []any{http.StatusNotModified, tag}, []any{head.Status, head.Header.Get("ETag")})
		head = f.getIf(t, http.MethodHead, orderPath, outdated)
		require.Equal(t, []any{http.StatusOK, tag}, []any{head.Status, head.Header.Get("ETag")})
	})
	requirement(t, "CRD-5", func(t *testing.T) {
		tag := f.tag(t, orderPath)
		f.Post(t, f.key, orderPath+"/messages", `{"body": "Hi."}`).OK(t)
		require.Equal(t, tag, f.tag(t, orderPath), "a message does not change its order")
		f.update(t, order, `"urgent": true`)
		corrected := f.tag(t, orderPath)
		require.NotEqual(t, tag, corrected)
		f.dispatch(t, idOf(order))
		require.NotEqual(t, corrected, f.tag(t, orderPath))
	})
	requirement(t, "CRD-6", func(t *testing.T) {
		for path, change := range map[string]func(){
			linkPath:              func() { f.cancel(t, linkPath) },
			campaignPath:          func() { campaign.Name = "Sun"; f.putCampaign(t, campaign) },
			giftPath:              func() { f.renameGift(t) },
			"/me":                 func() { f.putTenant(t, approving) },
			"/brands":             func() { f.putBrand(t, &tenantsv1.Brand{Id: f.other, Name: "West", Slug: "south"}) },
			"/catalog/categories": func() { f.changeCategory(t) },
		} {
			tag := f.tag(t, path)
			change()
			require.Equal(t, http.StatusOK, f.getIf(t, http.MethodGet, path, tag).Status, path)
		}
	})
	requirement(t, "CRD-7", func(t *testing.T) {
		for path, code := range map[string]string{"/orders/x": "not_found", campaignPath + "?locale=fr-FR": "invalid_request"} {
			a := f.getIf(t, http.MethodGet, path, "*")
			require.Equal(t, code, a.Object(t)["code"])
			require.Empty(t, a.Header.Get("ETag"))
		}
	})
	newFixture(t, p).testIfMatch(t)
}

// testIfMatch checks the conditions of actions.
func (f *fixture) testIfMatch(t *testing.T) {
	place := func(t *testing.T) (path, tag string) {
		t.Helper()
		path = "/orders/" + idOf(f.place(t))
		return path, f.tag(t, path)
	}
	actions := map[string]string{
		":update-delivery": `{"expectedVersion": 0, "urgent": true}`, ":cancel": reason, "/messages": `{"body": "Hi."}`,
	}
	requirement(t, "CRD-8", func(t *testing.T) {
		for action, body := range actions {
			path, tag := place(t)
			failed := f.postIf(t, path+action, body, outdated, "").Problem(t, "precondition_failed")
			require.Equal(t, "PROCESSING", failed["currentStatus"], action)
			require.Equal(t, tag, f.tag(t, path))
			require.Empty(t, f.messages(t, f.key, strings.TrimPrefix(path, "/orders/")))
			f.postIf(t, path+action, body, outdated+", "+tag, "").OK(t)
		}
	})
	requirement(t, "CRD-9", func(t *testing.T) {
		path, tag := place(t)
		f.postIf(t, path+":cancel", reason, "W/"+tag, "").Problem(t, "precondition_failed")
		f.postIf(t, "/orders/x:cancel", reason, "*", "").Problem(t, "not_found")
		f.postIf(t, path+":cancel", reason, "*", "").OK(t)
	})
	requirement(t, "CRD-10", func(t *testing.T) {
		path, _ := place(t)
		f.postIf(t, path+":update-delivery", `{"expectedVersion": 7}`, outdated, "").Problem(t, "precondition_failed")
		f.dispatch(t, strings.TrimPrefix(path, "/orders/"))
		f.postIf(t, path+":update-delivery", actions[":update-delivery"], outdated, "").Problem(t, "not_editable")
		f.postIf(t, path+":cancel", reason, outdated, "").Problem(t, "not_cancellable")
	})
	requirement(t, "CRD-11", func(t *testing.T) {
		path, tag := place(t)
		f.postIf(t, path+":cancel", reason, outdated, "retried").Problem(t, "precondition_failed")
		first := f.postIf(t, path+":cancel", reason, tag, "retried")
		require.Equal(t, http.StatusOK, first.Status, "the key was free")
		again := f.postIf(t, path+":cancel", reason, outdated, "retried")
		require.Equal(t, first.Body, again.Body)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	})
	requirement(t, "CRD-12", func(t *testing.T) {
		path, _ := place(t)
		for _, malformed := range []string{"x", `"x`, " ", `*, "x"`} {
			f.postIf(t, path+":cancel", reason, malformed, "").Invalid(t, "If-Match invalid")
		}
		f.postIf(t, "/orders", f.body(t), "*", "").Invalid(t, "If-Match invalid")
		f.postIf(t, "/personal-links/"+idOf(f.link(t))+":cancel", reason, "*", "").Invalid(t, "If-Match invalid")
		f.postIf(t, rotation, rotateBody(-1), "*", "").Invalid(t, "If-Match invalid", "overlapSeconds invalid")
	})
	requirement(t, "CRD-13", func(t *testing.T) {
		path, tag := place(t)
		var happened, failed atomic.Int32
		var group errgroup.Group
		for n := range 12 {
			request := f.postCall(path+":update-delivery", fmt.Sprintf(`{"expectedVersion": 0, "courierComment": "%d"}`, n))
			request.Header = map[string]string{"If-Match": tag}
			sent := f.Request(t, request)
			group.Go(func() error {
				response, err := http.DefaultClient.Do(sent)
				if err != nil {
					return err
				}
				switch response.StatusCode {
				case http.StatusOK:
					happened.Add(1)
				case http.StatusPreconditionFailed:
					failed.Add(1)
				}
				return response.Body.Close()
			})
		}
		require.NoError(t, group.Wait())
		require.Equal(t, []int32{1, 11}, []int32{happened.Load(), failed.Load()})
		require.InDelta(t, 1, f.read(t, path)["version"], 0)
	})
}

// changeCategory changes the name of a category that no other test knows.
func (f *fixture) changeCategory(t *testing.T) {
	t.Helper()
	_, err := f.Catalog(t).PutCategory(t.Context(), &catalogv1.PutCategoryRequest{Position: 99, Category: &catalogv1.Category{
		Code: "CONDITIONAL", Name: rand.Text(),
	}})
	require.NoError(t, err)
}

// renameGift changes the name of the fixture's gift.
func (f *fixture) renameGift(t *testing.T) {
	t.Helper()
	gift := f.putGift(t)
	gift.Id, gift.Name = f.product, "Parasol"
	f.putProduct(t, gift)
}
