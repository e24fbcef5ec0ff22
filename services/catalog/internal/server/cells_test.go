package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	imagejpeg "image/jpeg"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

var cellB = identity.Cell{Letter: "b"}

// moveTo changes the cell of the tenant, after which the clients are those of that cell.
func (f *fixture) moveTo(cell identity.Cell) {
	f.t.Helper()
	f.directory.ChangeTenant(tenantID, func(s *tenantstest.Settings) { s.Cell = cell.Letter })
	f.serveIn(cell)
}

func TestGiftsAreChangedInTheFirstCell(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.putRegion("NORDICS", "SE")
	p := gift()
	f.put(p)
	f.moveTo(cellB)
	id := p.GetId()
	for name, rpc := range map[string]func(ctx context.Context) error{
		"PutRegion":       ignoring(f.ops.PutRegion, &catalogv1.PutRegionRequest{Code: "BALTICS", Countries: []string{"EE"}}),
		"PutExchangeRate": ignoring(f.ops.PutExchangeRate, &catalogv1.PutExchangeRateRequest{Currency: "SEK", Rate: "11"}),
		"PutCategory":     ignoring(f.ops.PutCategory, &catalogv1.PutCategoryRequest{}),
		"PutProduct":      ignoring(f.ops.PutProduct, p),
		"ImportProducts": ignoring(f.imports.ImportProducts,
			&catalogv1.ImportProductsRequest{Products: []*catalogv1.PutProductRequest{p}}),
		"SetProductState": ignoring(f.products.SetProductState,
			&catalogv1.SetProductStateRequest{ProductId: id, Actor: staff(), State: archived}),
		"SetProductPrices": ignoring(f.products.SetProductPrices, &catalogv1.SetProductPricesRequest{
			ProductId: id, Actor: staff(), Prices: []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "7.5"}},
		}),
		"SetProductAvailability": ignoring(f.products.SetProductAvailability,
			&catalogv1.SetProductAvailabilityRequest{ProductId: id, Actor: staff(), AvailableCountries: []string{"FI"}}),
		"SetProductTranslations": ignoring(f.products.SetProductTranslations,
			&catalogv1.SetProductTranslationsRequest{ProductId: id, Actor: staff()}),
	} {
		err := rpc(f.keyContext(1))
		require.True(t, problem.Is(err, problem.NotEditable), "%s: %v", name, err)
		require.ErrorContains(t, err, "are changed in cell a", name)
	}
	campaignID := f.campaignIn(running, nil, offering(id, onDemand, nil, "S"))
	require.Equal(t, offered, f.readCampaign(campaignID).GetOfferings()[0].GetStatus())
}

// ignoring makes a call of which only the error matters.
func ignoring[Req, Resp any](rpc method[Req, Resp], req Req) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := rpc(ctx, req)
		return err
	}
}

func TestPicturesAreUploadedInEveryCellAndChangeGiftsInTheFirst(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	content := encoded(func(b *bytes.Buffer) error { return imagejpeg.Encode(b, drawing(2000, 700), nil) })
	image := f.upload(content)
	p := gift(func(p *catalogv1.PutProductRequest) { p.ImageFileIds = []string{image} })
	f.put(p)
	f.moveTo(cellB)
	const read, renditions = `SELECT row_to_json(p)::text FROM products p`, `SELECT count(*) FROM image_renditions`
	narrow := pgtest.Value[int](t, f.db, renditions)
	before := pgtest.Value[string](t, f.db, read)
	hero := call(f, f.logos.UploadBrandHero, &catalogv1.UploadBrandHeroRequest{TenantId: tenantID, BrandId: brandID, Content: content})
	require.Equal(t, image, hero.GetFileId())
	require.Greater(t, pgtest.Value[int](t, f.db, renditions), narrow, "the gift would show one more")
	require.Equal(t, before, pgtest.Value[string](t, f.db, read))
	require.True(t, f.open(hero.GetFileId()))
}

func TestWhatIsWrittenForATenantOfAnotherCellIsNotFound(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	campaignID, productID := f.campaignWithStock(5)
	correction := add(f.correction(campaignID), 1)
	f.serveIn(cellB)
	write := func(tenantID string) map[string]func(ctx context.Context) error {
		correction := &catalogv1.CorrectStockRequest{
			CorrectionId: uuid.NewString(), TenantId: tenantID, CampaignId: campaignID, SkuId: correction.GetSkuId(),
			Reason: "counted", Actor: staff(), Change: correction.GetChange(),
		}
		return map[string]func(ctx context.Context) error{
			"CorrectStock": ignoring(f.campaigns.CorrectStock, correction),
			"PutOffering": ignoring(f.campaigns.PutOffering, &catalogv1.PutOfferingRequest{
				TenantId: tenantID, CampaignId: campaignID, Actor: staff(), Offering: offering(productID, onDemand, nil, "S"),
			}),
			"RemoveOffering": ignoring(f.campaigns.RemoveOffering, &catalogv1.RemoveOfferingRequest{
				TenantId: tenantID, CampaignId: campaignID, ProductId: productID, Actor: staff(),
			}),
			"ResumeOffering": ignoring(f.campaigns.ResumeOffering, &catalogv1.ResumeOfferingRequest{
				TenantId: tenantID, CampaignId: campaignID, ProductId: productID, Actor: staff(),
			}),
			"StartCampaign": ignoring(f.campaigns.StartCampaign,
				&catalogv1.StartCampaignRequest{TenantId: tenantID, CampaignId: campaignID, Actor: staff()}),
			"SetCampaignGreetings": ignoring(f.campaigns.SetCampaignGreetings,
				&catalogv1.SetCampaignGreetingsRequest{TenantId: tenantID, CampaignId: campaignID, Actor: staff()}),
			"CompleteCampaign": ignoring(f.campaigns.CompleteCampaign,
				&catalogv1.CompleteCampaignRequest{TenantId: tenantID, CampaignId: campaignID, Actor: staff()}),
		}
	}
	all := write(tenantID)
	all["PutCampaign"] = ignoring(f.ops.PutCampaign, campaign())
	all["UploadBrandLogo"] = ignoring(f.logos.UploadBrandLogo,
		&catalogv1.UploadBrandLogoRequest{TenantId: tenantID, BrandId: brandID, Content: wideJPEG(700)})
	all["UploadBrandHero"] = ignoring(f.logos.UploadBrandHero,
		&catalogv1.UploadBrandHeroRequest{TenantId: tenantID, BrandId: brandID, Content: heroJPEG()})
	for name, rpc := range all {
		err := rpc(f.keyContext(1))
		require.True(t, problem.Is(err, problem.NotFound), "%s: %v", name, err)
	}
	for name, rpc := range write(uuid.NewString()) {
		err := rpc(f.keyContext(1))
		require.True(t, problem.Is(err, problem.NotFound), "of no tenant: %s: %v", name, err)
	}
	refused(f, problem.ServiceUnavailable, f.catalog.GetCampaign, &catalogv1.GetCampaignRequest{CampaignId: campaignID})
	f.directory.ChangeTenant(tenantID, func(s *tenantstest.Settings) { s.Cell = "b" })
	for _, name := range []string{
		"CorrectStock", "PutOffering", "ResumeOffering", "StartCampaign", "SetCampaignGreetings", "RemoveOffering", "CompleteCampaign",
		"PutCampaign", "UploadBrandLogo", "UploadBrandHero",
	} {
		require.NoError(t, all[name](f.keyContext(1)), name)
	}
}

// asApplyWorker runs statements in a transaction like that of PostgreSQL's logical replication.
func (f *fixture) asApplyWorker(statements ...string) error {
	tx, err := f.db.Begin(f.t.Context())
	require.NoError(f.t, err)
	defer func() { _ = tx.Rollback(f.t.Context()) }()
	asWorker := []string{"SET LOCAL session_replication_role = replica", "SET LOCAL search_path = pg_catalog"}
	for _, sql := range append(asWorker, statements...) {
		if _, err := tx.Exec(f.t.Context(), sql); err != nil {
			return err
		}
	}
	return tx.Commit(f.t.Context())
}

func TestAPictureThatArrivesByReplicationMayBeThereAlready(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	image := f.upload(heroJPEG())
	tables := `SELECT (SELECT json_agg(i ORDER BY file_id) FROM images i)::text || (SELECT json_agg(r ORDER BY original, width)
	  FROM image_renditions r)::text`
	before := pgtest.Value[string](t, f.db, tables)
	const (
		again    = `INSERT INTO public.images SELECT * FROM public.images`
		rendered = `INSERT INTO public.image_renditions SELECT original, width, original FROM public.image_renditions`
		fresh    = `INSERT INTO public.images (file_id, digest, content_type, size, width, height)
		  VALUES (repeat('f', 32), repeat('f', 64), 'image/png', 1, 1, 1)`
		freshRendition = `INSERT INTO public.image_renditions VALUES (repeat('f', 32), 7, repeat('f', 32))`
	)
	require.NoError(t, f.asApplyWorker(again, rendered))
	require.Equal(t, before, pgtest.Value[string](t, f.db, tables))
	require.NoError(t, f.asApplyWorker(fresh, freshRendition))
	require.Equal(t, 1, pgtest.Value[int](t, f.db, `SELECT count(*) FROM image_renditions WHERE original = repeat('f', 32)`))
	for _, sql := range []string{again, rendered} {
		_, err := f.db.Exec(t.Context(), sql)
		require.ErrorContains(t, err, "duplicate key", "of %s: any other session learns of its error", image)
	}
}

func TestOfferingsAreSuspendedWhenTheGiftChangesByReplication(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	p, q := gift(), gift()
	f.put(p)
	f.put(q)
	small := f.campaignIn(running, nil, offering(p.GetId(), onDemand, nil, "S"), offering(q.GetId(), onDemand, nil, "S"))
	medium := f.campaignIn(running, nil, offering(p.GetId(), onDemand, nil, "M"))
	statuses := func() (got []catalogv1.OfferingStatus) {
		for _, id := range []string{small, medium} {
			got = append(got, f.readCampaign(id).GetOfferings()[0].GetStatus())
		}
		return got
	}
	set := func(column, value string) error {
		return f.asApplyWorker(`UPDATE public.products SET ` + column + ` = '` + value + `' WHERE id = '` + p.GetId() + `'`)
	}
	require.NoError(t, set("name", "Blanket"))
	require.NoError(t, set("variations", `[{"dimension": "Size", "values": ["M", "L", "S"]}]`))
	require.Equal(t, []catalogv1.OfferingStatus{offered, offered}, statuses())
	require.NoError(t, set("variations", `[{"dimension": "Size", "values": ["M", "L"]}]`))
	require.Equal(t, []catalogv1.OfferingStatus{needsReview, offered}, statuses())
	require.NoError(t, set("state", "ARCHIVED"))
	require.Equal(t, []catalogv1.OfferingStatus{needsReview, needsReview}, statuses())
	require.Equal(t, offered, f.readCampaign(small).GetOfferings()[1].GetStatus(), "of another gift")
}

func TestAChangeByReplicationWaitsForThoseOfTheCell(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	p := gift()
	f.put(p)
	id := f.campaignIn(running, nil)
	tx, err := f.db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	// An operation has read the gift and will offer it.
	pgtest.Exec(t, tx, `SELECT pg_advisory_xact_lock(4713001)`)
	applied := make(chan error, 1)
	go func() {
		applied <- f.asApplyWorker(`UPDATE public.products SET state = 'ARCHIVED' WHERE id = '` + p.GetId() + `'`)
	}()
	pgtest.AwaitLock(t, f.db)
	pgtest.Exec(t, tx, `INSERT INTO offerings VALUES ($1, $2, $3, 'ACTIVE', 'ON_DEMAND', 0)`, tenantID, id, p.GetId())
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-applied)
	require.Equal(t, "NEEDS_REVIEW", pgtest.Value[string](t, f.db, `SELECT status FROM offerings`))
}

// TestTheRuleOfCombinationsIsThatOfGo compares the two forms of the rule.
func TestTheRuleOfCombinationsIsThatOfGo(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	const (
		composed, decomposed = "Caf\u00e9", "Cafe\u0301"
		one                  = `[{"dimension": "Size", "values": ["M", "S"]}]`
		two                  = `[{"dimension": "A", "values": ["1"]}, {"dimension": "B", "values": ["2"]}]`
		accented             = `[{"dimension": "` + composed + `", "values": ["` + decomposed + `"]}]`
	)
	for name, tc := range map[string]struct {
		variations, choice string
		want               bool
	}{
		"none of none":          {`[]`, `{}`, true},
		"none of null":          {`null`, `{}`, true},
		"one of none":           {`[]`, `{"Size": "S"}`, false},
		"one of null":           {`null`, `{"Size": "S"}`, false},
		"none of one":           {`[{"dimension": "Size", "values": ["S"]}]`, `{}`, false},
		"one":                   {one, `{"Size": "S"}`, true},
		"an unknown value":      {one, `{"Size": "L"}`, false},
		"another spelling":      {one, `{"Size": "s"}`, false},
		"an unknown dimension":  {one, `{"Colour": "S"}`, false},
		"one of two":            {two, `{"A": "1"}`, false},
		"two":                   {two, `{"A": "1", "B": "2"}`, true},
		"two values exchanged":  {two, `{"A": "2", "B": "1"}`, false},
		"two of one":            {`[{"dimension": "A", "values": ["1"]}]`, `{"A": "1", "B": "2"}`, false},
		"another normalization": {accented, `{"` + decomposed + `": "` + composed + `"}`, true},
	} {
		got := pgtest.Value[bool](t, f.db, `SELECT is_exact_choice($1::text::jsonb, $2::text::jsonb)`, tc.variations, tc.choice)
		require.Equal(t, tc.want, got, name)
		var variations []rules.Variation
		var choice map[string]string
		require.NoError(t, json.Unmarshal([]byte(tc.variations), &variations))
		require.NoError(t, json.Unmarshal([]byte(tc.choice), &choice))
		require.Equal(t, tc.want, rules.IsExactChoice(variations, choice), name)
	}
}
