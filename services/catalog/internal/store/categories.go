package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	upsertCategory = `INSERT INTO categories (code, name, names, position) VALUES ($1, $2, $3, $4)
ON CONFLICT (code) DO UPDATE SET name = EXCLUDED.name, names = EXCLUDED.names, position = EXCLUDED.position`

	deleteSubcategories = `DELETE FROM subcategories WHERE category = $1 AND code <> ALL($2::text[]) RETURNING code`

	upsertSubcategory = `INSERT INTO subcategories (code, category, name, names, position) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (code) DO UPDATE SET name = EXCLUDED.name, names = EXCLUDED.names, position = EXCLUDED.position`

	anyGiftIn = `SELECT EXISTS (SELECT FROM products WHERE categories && $1::text[])`

	selectCategories = `SELECT c.code, c.name, c.names,
  array_agg(s.code ORDER BY s.position) FILTER (WHERE s.code IS NOT NULL),
  array_agg(s.name ORDER BY s.position) FILTER (WHERE s.code IS NOT NULL),
  array_agg(s.names ORDER BY s.position) FILTER (WHERE s.code IS NOT NULL)
FROM categories c
LEFT JOIN subcategories s ON s.category = c.code
GROUP BY c.code
ORDER BY c.position, c.code`
)

// PutCategory replaces a category with its subcategories. A subcategory with gifts cannot be removed.
func (s *Store) PutCategory(ctx context.Context, c rules.Category) error {
	return s.change(ctx, func(tx pgx.Tx) error {
		codes := make([]string, 0, len(c.Subcategories))
		b := &pgx.Batch{}
		b.Queue(upsertCategory, c.Code, c.Name, c.Names, c.Position)
		for i, sub := range c.Subcategories {
			b.Queue(upsertSubcategory, sub.Code, c.Code, sub.Name, sub.Names, i)
			codes = append(codes, sub.Code)
		}
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("write category: %w", err)
		}
		return dropSubcategories(ctx, tx, c.Code, codes)
	})
}

func dropSubcategories(ctx context.Context, tx pgx.Tx, category string, keep []string) error {
	gone, err := postgres.Select(ctx, tx, "drop subcategories", pgx.RowTo[string], deleteSubcategories, category, keep)
	if err != nil || len(gone) == 0 {
		return err
	}
	var used bool
	if err := tx.QueryRow(ctx, anyGiftIn, gone).Scan(&used); err != nil {
		return fmt.Errorf("look for gifts in subcategories: %w", err)
	}
	if used {
		return problem.Invalid(problem.Violation{
			Field: "category.subcategories", Code: problem.FieldInvalid,
			Message: "must keep every subcategory that has gifts",
		})
	}
	return nil
}

// Categories lists all categories in display order.
func (s *Store) Categories(ctx context.Context) ([]rules.Category, error) {
	return postgres.Select(ctx, s.pool, "read categories", func(row pgx.CollectableRow) (rules.Category, error) {
		var c rules.Category
		var codes, names []string
		var translations []map[string]string
		err := row.Scan(&c.Code, &c.Name, &c.Names, &codes, &names, &translations)
		for i := range codes {
			c.Subcategories = append(c.Subcategories, rules.Label{Code: codes[i], Name: names[i], Names: translations[i]})
		}
		return c, err
	}, selectCategories)
}
