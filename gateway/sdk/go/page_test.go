package gifting_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// numbered answers pages of two items, the last with one, and refuses another filter on a later page, as the API does.
func numbered(t *testing.T, count int) *gifting.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		from, _ := strconv.Atoi(req.URL.Query().Get("after"))
		if req.URL.Query().Get("status") != "SENT" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		page := `{"items":[`
		for i := from; i < min(from+2, count); i++ {
			page += fmt.Sprintf(`{"id":"%d"},`, i)
		}
		page = page[:len(page)-1] + "]"
		if from+2 < count {
			page += fmt.Sprintf(`,"nextCursor":"%d"}`, from+2)
		} else {
			page += `,"nextCursor":null}`
		}
		_, _ = fmt.Fprint(w, page)
	}))
	t.Cleanup(server.Close)
	client, err := gifting.New(server.URL, "key")
	require.NoError(t, err)
	return client
}

func TestAListIsReadPageByPage(t *testing.T) {
	t.Parallel()
	orders := numbered(t, 5).Orders.List(t.Context(), gifting.ListOrdersQuery{Status: gifting.OrderStatusSENT}).All()
	for range 2 { // A sequence can be read again.
		var ids []string
		for order, err := range orders {
			require.NoError(t, err)
			ids = append(ids, order.ID)
		}
		require.Equal(t, []string{"0", "1", "2", "3", "4"}, ids)
	}
	for order, err := range orders {
		require.NoError(t, err)
		if order.ID == "2" {
			break
		}
	}
}

func TestAListEndsWithItsError(t *testing.T) {
	t.Parallel()
	calls := 0
	for _, err := range numbered(t, 5).Orders.List(t.Context(), gifting.ListOrdersQuery{}).All() {
		require.Error(t, err)
		calls++
	}
	require.Equal(t, 1, calls)
}

// circle answers pages whose cursors go A, B, A, B.
func circle(items string) *stub {
	return &stub{script: script{
		answered(200, `{"items":[`+items+`],"nextCursor":"a"}`), answered(200, `{"items":[`+items+`],"nextCursor":"b"}`),
		answered(200, `{"items":[`+items+`],"nextCursor":"a"}`), answered(200, `{"items":[`+items+`],"nextCursor":"b"}`),
	}}
}

func TestCursorsInACircleEndAList(t *testing.T) {
	t.Parallel()
	const says = "a page has a cursor that was already used"
	transport := circle(gone)
	client := newClient(t, transport)
	count := 0
	for _, err := range client.Orders.List(t.Context(), gifting.ListOrdersQuery{}).All() {
		if count++; count == 4 {
			require.ErrorContains(t, err, says)
		}
	}
	require.Equal(t, 4, count)
	require.Len(t, transport.attempts, 3)
	_, err := newClient(t, circle(gone)).Catalog.Sync(t.Context(), gifting.CatalogSync{Country: "SE"}, copyOf{}.apply)
	require.ErrorContains(t, err, says)
	count = 0
	for page, err := range newClient(t, circle("")).Events.Feed(t.Context(), gifting.FeedOptions{StopAtEnd: true}) {
		if count++; count == 3 {
			require.Nil(t, page)
			require.ErrorContains(t, err, says)
		}
	}
	require.Equal(t, 3, count)
}

func TestACatalogEntryIsNeverNothing(t *testing.T) {
	t.Parallel()
	for _, item := range []string{"null", "{}", `{"listed":false}`} {
		transport := &stub{script: script{answered(200, `{"items":[`+item+`]}`)}}
		_, err := newClient(t, transport).Catalog.Sync(t.Context(), gifting.CatalogSync{Country: "SE"}, copyOf{}.apply)
		require.NoError(t, err)
	}
}

func TestACatalogEntrySaysWhatItIs(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, `{"items":[
		{"id":"a","listed":true,"name":"Cap","updatedAt":"2026-01-02T00:00:00Z"},
		{"id":"b","listed":false,"updatedAt":"2026-01-03T00:00:00Z"}]}`)}}
	page, err := newClient(t, transport).Catalog.Products(t.Context(), gifting.ListProductsQuery{Country: "SE"}).First()
	require.NoError(t, err)
	require.Equal(t, "Cap", page.Items[0].Product.Name)
	require.Nil(t, page.Items[0].Unlisted)
	require.Nil(t, page.Items[1].Product)
	require.Equal(t, "b", page.Items[1].ID())
	require.Equal(t, time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), page.Items[1].UpdatedAt())
}
