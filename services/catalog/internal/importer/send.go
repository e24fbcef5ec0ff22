package importer

import (
	"context"
	"errors"
	"time"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	// callTimeout includes the wait for other changes.
	callTimeout  = time.Minute
	attempts     = 6
	firstBackoff = 200 * time.Millisecond
)

var errAnswer = errors.New("the catalog returned another number of results than gifts")

// send imports the valid rows of the batch. While the catalog is unavailable it tries again: importing
// twice does no harm.
func (r *run) send(ctx context.Context) ([]*catalogv1.ImportResult, error) {
	req := &catalogv1.ImportProductsRequest{}
	for _, row := range r.batch {
		if len(row.Violations) == 0 {
			req.Products = append(req.Products, row.Gift)
		}
	}
	if len(req.GetProducts()) == 0 {
		return nil, nil
	}
	backoff := firstBackoff
	for n := 1; ; n++ {
		resp, err := r.call(ctx, req)
		switch {
		case err == nil && len(resp.GetResults()) != len(req.GetProducts()):
			return nil, errAnswer
		case err == nil:
			return resp.GetResults(), nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case n == attempts || !problem.Is(err, problem.ServiceUnavailable):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(backoff):
		}
		backoff *= 2
	}
}

func (r *run) call(ctx context.Context, req *catalogv1.ImportProductsRequest) (*catalogv1.ImportProductsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return r.Catalog.ImportProducts(ctx, req)
}
