package giftingctl

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	getTenant = tenantsv1.TenantOperationsService_GetTenant_FullMethodName
	search    = ordersv1.OrderOperationsService_SearchOrders_FullMethodName
)

// twoCells starts the services of both cells. The context of the first has the addresses of the second; the tenant is in a cell.
func twoCells(t *testing.T, cell string) (home, second *giftingctltest.Services) {
	t.Helper()
	home = giftingctltest.Start(t, func(method string, _ proto.Message) (proto.Message, error) {
		if method == getTenant {
			return &tenantsv1.GetTenantResponse{Tenant: &tenantsv1.TenantRecord{Cell: cell}}, nil
		}
		return nil, nil
	})
	second = giftingctltest.StartBeside(t, home)
	content, err := os.ReadFile(home.Config)
	require.NoError(t, err)
	other, err := readConfig(second.Config)
	require.NoError(t, err)
	cells := "    cells: {b: {orders: \"" + other.Contexts["test"].Addresses["orders"] + "\"}}\n"
	require.NoError(t, os.WriteFile(home.Config, append(content, cells...), 0o600))
	return home, second
}

func TestACommandGoesToTheCellOfTheTenant(t *testing.T) {
	t.Parallel()
	for cell, inSecond := range map[string]bool{"": false, "a": false, "b": true} {
		home, second := twoCells(t, cell)
		code, _, errs := runLine(t, home.Config, "orders", "search")
		require.Zero(t, code, errs)
		if inSecond {
			require.Equal(t, []string{getTenant}, home.Calls())
			require.Equal(t, []string{search}, second.Calls())
		} else {
			require.Equal(t, []string{getTenant, search}, home.Calls(), "cell %q", cell)
			require.Empty(t, second.Calls())
		}
	}
}

func TestACommandThatIsNotAboutATenantOfOneCellDoesNotAskForIt(t *testing.T) {
	t.Parallel()
	home, second := twoCells(t, "b")
	for _, command := range []string{"regions list", "tenants list", "keys list"} {
		code, _, errs := runLine(t, home.Config, strings.Fields(command)...)
		require.Zero(t, code, errs)
	}
	require.Len(t, home.Calls(), 3)
	require.NotContains(t, home.Calls(), getTenant)
	require.Empty(t, second.Calls())
}

func TestWithoutCellsInTheContextNoCommandAsksForThem(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	code, _, errs := runLine(t, services.Config, "orders", "search")
	require.Zero(t, code, errs)
	require.Equal(t, []string{search}, services.Calls())
}

func TestACellOrAProgramThatTheContextLacksIsNamed(t *testing.T) {
	t.Parallel()
	home, _ := twoCells(t, "c")
	code, _, errs := runLine(t, home.Config, "orders", "search")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "set cells.c of test in "+home.Config)
	home, _ = twoCells(t, "b")
	code, _, errs = runLine(t, home.Config, "webhook", "log", "7")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "set cells.b.webhook of test in "+home.Config)
}

func TestADryRunDoesNotAskForTheCell(t *testing.T) {
	t.Parallel()
	home, _ := twoCells(t, "b")
	code, _, errs := runLine(t, home.Config, "orders", "approve", "x", "--dry-run")
	require.Zero(t, code, errs)
	require.Contains(t, errs, "to orders at the address of its cell")
	require.Empty(t, home.Calls())
}

func TestAMoveCanBeCheckedFirst(t *testing.T) {
	t.Parallel()
	var sent *tenantsv1.MoveTenantRequest
	services := giftingctltest.Start(t, func(_ string, req proto.Message) (proto.Message, error) {
		sent, _ = req.(*tenantsv1.MoveTenantRequest)
		return nil, nil
	})
	for _, check := range []bool{true, false} {
		args := []string{"tenants", "move", "--to", "b"}
		if check {
			args = append(args, "--check")
		}
		code, _, errs := runLine(t, services.Config, args...)
		require.Zero(t, code, errs)
		require.Equal(t, check, sent.GetDryRun())
		require.Equal(t, giftingctltest.Tenant, sent.GetTenantId())
	}
}
