package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func putCell(letter string) *tenantsv1.PutCellRequest {
	return &tenantsv1.PutCellRequest{Actor: backoffice(), Cell: &tenantsv1.Cell{
		Letter: letter, CatalogAddr: "c:1", OrdersAddr: "o:1", PersonalLinksAddr: "l:1", EventsAddr: "e:1", WebhookAddr: "w:1",
	}}
}

func TestCellsAreListedForOthers(t *testing.T) {
	t.Parallel()
	f := setup(t)
	requireRefused(t, problem.NotEditable, f.cells.PutCell, func() *tenantsv1.PutCellRequest {
		r := putCell("b")
		r.Open = true // Without a copy of the gifts.
		return r
	}())
	listed := call(t, f.directory.ListCells, &tenantsv1.ListCellsRequest{})
	require.Empty(t, listed.GetCells(), "the first one is in the settings of the programs")
	record := call(t, f.cells.PutCell, putCell("b")).GetRecord()
	require.Equal(t, "o:1", record.GetCell().GetOrdersAddr())
	require.Zero(t, record.GetTenants())
	listed = call(t, f.directory.ListCells, &tenantsv1.ListCellsRequest{})
	require.Len(t, listed.GetCells(), 1)
	pgtest.Exec(t, f.pool, `UPDATE cells SET open = true`)
	req := tenantRequest(newID())
	req.Cell = "b"
	call(t, f.ops.PutTenant, req)
	all := call(t, f.cells.ListCellRecords, &tenantsv1.ListCellRecordsRequest{Actor: backoffice()}).GetRecords()
	require.Len(t, all, 2)
	require.EqualValues(t, 1, all[1].GetTenants())
	require.Equal(t, "b", f.settings(req.GetId()).GetCell())

	none := putCell("a")
	none.Cell = &tenantsv1.Cell{Letter: "a"}
	none.Room, none.Open = 1, true
	call(t, f.cells.PutCell, none)
	req = tenantRequest(newID())
	req.Cell = "a"
	requireRefused(t, problem.NotEditable, f.ops.PutTenant, req)
}

func TestADrainedCellTakesNoTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	record := call(t, f.cells.DrainCell, &tenantsv1.DrainCellRequest{Actor: backoffice(), Letter: "a"}).GetRecord()
	require.False(t, record.GetOpen())
	requireRefused(t, problem.NotEditable, f.ops.PutTenant, tenantRequest(newID()))
	requireRefused(t, problem.NotFound, f.cells.DrainCell, &tenantsv1.DrainCellRequest{Actor: backoffice(), Letter: "b"})
	requireRefused(t, problem.InvalidRequest, f.cells.DrainCell, &tenantsv1.DrainCellRequest{Actor: backoffice()})
	opened := putCell("a")
	opened.Open = true
	call(t, f.cells.PutCell, opened)
	call(t, f.ops.PutTenant, tenantRequest(newID()))
}

func TestACellIsChecked(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for name, change := range map[string]func(r *tenantsv1.PutCellRequest){
		"no letter":     func(r *tenantsv1.PutCellRequest) { r.Cell.Letter = "" },
		"a large one":   func(r *tenantsv1.PutCellRequest) { r.Cell.Letter = "B" },
		"two letters":   func(r *tenantsv1.PutCellRequest) { r.Cell.Letter = "bc" },
		"no address":    func(r *tenantsv1.PutCellRequest) { r.Cell.WebhookAddr = "" },
		"negative room": func(r *tenantsv1.PutCellRequest) { r.Room = -1 },
		"no cell":       func(r *tenantsv1.PutCellRequest) { r.Cell = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := putCell("b")
			change(req)
			requireRefused(t, problem.InvalidRequest, f.cells.PutCell, req)
		})
	}
}

func TestAMoveThatCannotSucceedIsRefused(t *testing.T) {
	t.Parallel()
	f := setup(t)
	call(t, f.cells.PutCell, putCell("b"))
	pgtest.Exec(t, f.pool, `UPDATE cells SET open = true`)
	id := f.tenant()
	move := &tenantsv1.MoveTenantRequest{Actor: backoffice(), TenantId: id, To: "a"}
	cell := f.settings(id).GetCell()
	move.To = cell
	requireRefused(t, problem.NotEditable, f.cells.MoveTenant, move)
	move.To = map[string]string{"a": "b", "b": "a"}[cell]
	_, err := f.cells.MoveTenant(t.Context(), move)
	require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
	require.ErrorContains(t, err, "GIFTING_CELL_DATABASES has no URL of the database")
	requireRefused(t, problem.NotFound, f.cells.GetTenantMove, &tenantsv1.GetTenantMoveRequest{Actor: backoffice(), TenantId: id})
	requireRefused(t, problem.NotFound, f.cells.CancelTenantMove,
		&tenantsv1.CancelTenantMoveRequest{Actor: backoffice(), TenantId: id})
	requireRefused(t, problem.NotFound, f.cells.MoveTenant,
		&tenantsv1.MoveTenantRequest{Actor: backoffice(), TenantId: newID(), To: "b"})
}
