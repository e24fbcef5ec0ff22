package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// SitePageQuery names what a page of the gift site shows beside the gifts. Without a campaign or a hero picture its id is nil.
type SitePageQuery struct {
	TenantID    string
	CampaignID  *string
	BrandID     *string
	HeroImageID *string
	// PictureIDs are those of the other pictures.
	PictureIDs []string
	// Locales are those of the texts, the best one first.
	Locales []string
}

// SitePage is what a page of the gift site shows beside the gifts.
type SitePage struct {
	// Greeting is empty if the campaign has none.
	Greeting string
	// Hero is empty if the brand has not uploaded the picture.
	Hero []rules.ShownImage
	// PictureIDs are those of the query that are public pictures of the brand.
	PictureIDs []string
	// Categories are all, in display order. Their names are in the best locale.
	Categories []rules.Label
}

const (
	selectGreetings = `SELECT (SELECT jsonb_object_agg(l, greetings->>l) FROM unnest($3::text[]) AS l WHERE greetings ? l)
FROM campaigns WHERE tenant_id = $1 AND id = $2`

	selectHero = `SELECT shown_images(ARRAY[file_id]) FROM brand_heroes WHERE tenant_id = $1 AND brand_id = $2 AND file_id = $3`

	selectBrandPictures = `SELECT DISTINCT file_id FROM ` + brandPictures + `
WHERE tenant_id = $1 AND brand_id = $2 AND file_id = ANY ($3)`

	selectTopCategories = `SELECT code, name,
  coalesce((SELECT jsonb_object_agg(l, names->>l) FROM unnest($1::text[]) AS l WHERE names ? l), '{}')
FROM categories ORDER BY position, code`
)

// SitePage reads it in one round trip.
func (s *Store) SitePage(ctx context.Context, q SitePageQuery) (SitePage, error) {
	var p SitePage
	b := &pgx.Batch{}
	b.Queue(selectGreetings, q.TenantID, q.CampaignID, q.Locales).Query(func(rows pgx.Rows) error {
		var greetings map[string]string
		_, err := pgx.ForEachRow(rows, []any{&greetings}, func() error {
			for _, locale := range q.Locales {
				p.Greeting = cmp.Or(p.Greeting, greetings[locale])
			}
			return nil
		})
		return err
	})
	postgres.QueueSelectFirst(b, &p.Hero, pgx.RowTo[[]rules.ShownImage], selectHero, q.TenantID, q.BrandID, q.HeroImageID)
	postgres.QueueSelect(b, &p.PictureIDs, pgx.RowTo[string], selectBrandPictures, q.TenantID, q.BrandID, q.PictureIDs)
	postgres.QueueSelect(b, &p.Categories, pgx.RowToStructByPos[rules.Label], selectTopCategories, q.Locales)
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return SitePage{}, fmt.Errorf("read page of the gift site: %w", err)
	}
	return p, nil
}

const (
	selectAllGreetings = `SELECT greetings FROM campaigns WHERE tenant_id = $1 AND id = $2`

	setGreetings = `UPDATE campaigns SET greetings = $3 WHERE tenant_id = $1 AND id = $2 AND greetings <> $3`
)

// Greetings reads the greetings of a campaign by locale.
func (s *Store) Greetings(ctx context.Context, tenantID, id string) (greetings map[string]string, err error) {
	if err := s.pool.QueryRow(ctx, selectAllGreetings, tenantID, id).Scan(&greetings); err != nil {
		return nil, fmt.Errorf("read greetings: %w", err)
	}
	return greetings, nil
}

// SetGreetings replaces the greetings of the campaign of the act.
func (s *Store) SetGreetings(ctx context.Context, act Act, greetings map[string]string) error {
	return s.inCampaign(ctx, act, func(tx pgx.Tx, _ string) (changed bool, err error) {
		tag, err := tx.Exec(ctx, setGreetings, act.TenantID, act.Subject, greetings)
		return tag.RowsAffected() > 0, err
	})
}
