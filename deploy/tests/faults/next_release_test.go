//go:build faults

package faults_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
)

// TestUpgradeToTheNextRelease upgrades a gateway of this version to the release after it before the services that it needs, and
// takes the upgrade back.
func TestUpgradeToTheNextRelease(t *testing.T) {
	this := buildPrograms(t, "", nil)
	next := buildPrograms(t, "", []string{"-overlay", overlay(t, nextRelease)})
	require.Empty(t, upgradeGatewayFirst(t, this, next))
}

// TestMutationsAreFoundByUpgrades shows that the checks of upgrades find bugs that make them unsafe.
func TestMutationsAreFoundByUpgrades(t *testing.T) {
	this := buildPrograms(t, "", nil)
	changed := func(t *testing.T, changes []replacement) string {
		t.Helper()
		if changes == nil {
			return this
		}
		return buildPrograms(t, "", []string{"-overlay", overlay(t, changes)})
	}
	for _, m := range upgradeMutations {
		t.Run(m.name, func(t *testing.T) {
			older, newer := changed(t, m.older), changed(t, m.newer)
			if m.older != nil {
				require.NotEmpty(t, upgradeGatewayFirst(t, older, newer), "the mutation is not found")
				return
			}
			u := newUpgrade(t, build{older, root(t)}, newer)
			kept := newKeptRecords(t, newFixture(t, u.deployment, time.Now().UnixNano(), 0))
			for _, name := range []string{"this version", "back to the release"} {
				u.enter(t, mixNamed(name))
				kept.add(t, name)
			}
			found := kept.differences(t)
			require.NotEmpty(t, found, "the mutation is not found")
			u.report.printf("%s: %s", m.name, found[0])
		})
	}
}

// upgradeGatewayFirst upgrades one gateway, then the orders service, and goes back in the same order as a rollback might. It
// describes what went wrong.
func upgradeGatewayFirst(t *testing.T, this, next string) (wrong []string) {
	t.Helper()
	u := newUpgrade(t, build{this, root(t)}, next)
	user := newKeptRecords(t, newFixture(t, u.deployment, time.Now().UnixNano(), 0)).users[0]
	received := make(chan string, 1000)
	u.receiveWebhooks(t, user.tenant, received)
	gateway, orders := u.of(identity.Gateway)[0], u.of(identity.Orders)
	check := func(step string, ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, step+": "+fmt.Sprintf(format, args...))
		}
	}
	refuses := func(step string) {
		order := user.requireRecord(t, user.send(t, newPost("/orders", toJSON(orderBody(user.product, user.brand)))))
		status, retryAfter := user.cancel(t, gateway, order, `"stale"`)
		check(step, status == http.StatusServiceUnavailable && retryAfter != "", "a condition of an older service: %d", status)
		read := user.send(t, call{method: http.MethodGet, path: "/orders/" + order})
		check(step, !strings.Contains(read, "CANCELLED"), "the condition was ignored")
		status, _ = user.cancel(t, gateway, order, "")
		check(step, status == http.StatusOK, "a change without a condition: %d", status)
	}

	step := "gateway first"
	gateway.replace(t, u.newer, true)
	require.Never(t, func() bool { return gateway.ready(t.Context()) }, 3*time.Second, readinessInterval)
	_, reason := gateway.ask(t.Context(), "/readyz")
	check(step, strings.Contains(reason, "orders"), "/readyz does not name the older service")
	refuses(step)

	step = "one of two instances of orders"
	orders[0].replace(t, u.newer, true)
	check(step, !gateway.ready(t.Context()), "the gateway is ready")

	step = "both instances of orders"
	orders[1].replace(t, u.newer, false)
	gateway.awaitReady(t)
	order := user.requireRecord(t, user.send(t, newPost("/orders", toJSON(orderBody(user.product, user.brand)))))
	status, _ := user.cancel(t, gateway, order, `"stale"`)
	check(step, status == http.StatusPreconditionFailed, "a stale condition: %d", status)
	status, _ = user.cancel(t, gateway, order, "*")
	check(step, status == http.StatusOK, "a condition that holds: %d", status)
	check(step, u.arrives(received, order, newEventType), "older readers do not send the new event")
	feed := user.send(t, call{method: http.MethodGet, path: "/events?limit=100"})
	check(step, strings.Contains(feed, newEventType), "older readers do not show the new event: %s", feed)

	step = "back, orders first"
	for n, i := range orders {
		i.replace(t, u.older, n == 0)
		i.awaitReady(t)
	}
	check(step, gateway.ready(t.Context()), "the gateway is no longer ready")
	refuses(step)
	gateway.replace(t, u.older, true)
	gateway.awaitReady(t)
	status, _ = user.cancel(t, gateway, order, `"stale"`)
	check(step, status == http.StatusPreconditionFailed, "a stale condition at this version: %d", status)
	return wrong
}

// cancel cancels an order through one gateway, once.
func (u *upgradeUser) cancel(t *testing.T, by *instance, order, ifMatch string) (status int, retryAfter string) {
	t.Helper()
	one := *u.client
	one.bases = []string{baseOf(by.addr)}
	what := newPost("/orders/"+order+":cancel", cancellation)
	what.ifMatch = ifMatch
	a, err := one.sendOnce(t.Context(), what)
	require.NoError(t, err)
	return a.status, a.header.Get("Retry-After")
}

// receiveWebhooks lets a key of its own receive the bodies of webhooks.
func (u *upgrade) receiveWebhooks(t *testing.T, tenant string, received chan<- string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- string(body)
	}))
	t.Cleanup(server.Close)
	r := u.newReader(t, "receiver", tenant, "", allScopes...)
	u.setWebhook(t, r, server.URL)
}

// arrives waits for a webhook about the order.
func (u *upgrade) arrives(received <-chan string, order, eventType string) bool {
	timeout := time.After(30 * time.Second)
	for {
		select {
		case body := <-received:
			if strings.Contains(body, order) && strings.Contains(body, eventType) {
				return true
			}
		case <-timeout:
			return false
		}
	}
}
