package importer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Short describes the command in the list of commands.
const Short = "import gifts from a JSON or CSV file; import -h explains how"

var (
	// ErrRejected ends an import that read the whole file but could not import all rows.
	ErrRejected = errors.New("rows were rejected; see the report")
	errNoFile   = errors.New("name a file: --file gifts.json (or - for the standard input, with --format)")
	errNoAddr   = errors.New("say where the catalog service is: --catalog host:port or GIFTING_CATALOG_ADDR")
)

// Config is the configuration from the environment.
type Config struct {
	CatalogAddr string `env:"CATALOG_ADDR" check:"hostports" doc:"host:port of the catalog service."`
	// TLS is the certificate of the caller.
	TLS identity.Config `envPrefix:"TLS_"`
}

// arguments of the command.
type arguments struct {
	catalog, file, format, report, reportFormat string

	tls identity.Config
}

// Streams of the process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Command runs `catalog import` with its arguments.
func Command(ctx context.Context, args []string, std Streams) error {
	var cfg Config
	if err := settings.Load(&cfg); err != nil {
		return err
	}
	a, err := parse(args, cfg, std.Err)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	return a.run(ctx, std)
}

func parse(args []string, cfg Config, help io.Writer) (arguments, error) {
	a := arguments{tls: cfg.TLS}
	set := flag.NewFlagSet("import", flag.ContinueOnError)
	set.SetOutput(help)
	set.StringVar(&a.file, "file", "", "the file of gifts; - is the standard input")
	set.StringVar(&a.format, "format", "", "json, ndjson or csv; default: by the file's ending")
	set.StringVar(&a.report, "report", "-", "where the report goes; - is the standard output")
	set.StringVar(&a.reportFormat, "report-format", "", "ndjson or csv; default: by the report's ending, else ndjson")
	set.StringVar(&a.catalog, "catalog", cfg.CatalogAddr, "host:port of the catalog service; default: GIFTING_CATALOG_ADDR")
	set.Usage = func() {
		_, _ = fmt.Fprint(help, Help)
		set.PrintDefaults()
	}
	if err := set.Parse(args); err != nil {
		return a, err
	}
	switch {
	case a.file == "" || set.NArg() > 0:
		return a, errNoFile
	case a.catalog == "":
		return a, errNoAddr
	}
	return a, nil
}

func (a arguments) run(ctx context.Context, std Streams) (err error) {
	file, format, err := a.open(std.In)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	rows, err := Read(file, format)
	if err != nil {
		return err
	}
	to, report, err := a.openReport(std.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	conn, err := rpc.Dial(rpc.Target{Service: identity.Catalog, Addr: a.catalog, TLS: a.tls}, telemetry.Discard())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	totals, err := Import{
		Rows: rows, Catalog: catalogv1.NewImportServiceClient(conn), Report: report, Progress: std.Err, Clock: time.Now,
	}.Run(ctx)
	if err == nil && totals.Rejected > 0 {
		return fmt.Errorf("%d of %d %w", totals.Rejected, totals.Rows, ErrRejected)
	}
	return err
}

func (a arguments) open(in io.Reader) (io.ReadCloser, Format, error) {
	format, err := Format(a.format), error(nil)
	if format == "" {
		format, err = FormatOf(a.file)
	}
	if err != nil || a.file == "-" {
		return io.NopCloser(in), format, err
	}
	file, err := os.Open(a.file)
	if err != nil {
		return nil, "", fmt.Errorf("open the file: %w", err)
	}
	return file, format, nil
}

// nopCloser leaves the standard output open.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (a arguments) openReport(out io.Writer) (io.WriteCloser, Report, error) {
	format := Format(a.reportFormat)
	if format == "" {
		format = NDJSON
		if byName, err := FormatOf(a.report); err == nil {
			format = byName
		}
	}
	var to io.WriteCloser = nopCloser{out}
	if a.report != "-" {
		file, err := os.Create(a.report)
		if err != nil {
			return nil, nil, fmt.Errorf("create the report: %w", err)
		}
		to = file
	}
	report, err := NewReport(to, format)
	if err != nil {
		return nil, nil, errors.Join(err, to.Close())
	}
	return to, report, nil
}

// Help explains the command.
const Help = `usage: catalog import --file gifts.json|gifts.ndjson|gifts.csv [flags]

Imports gifts into the running catalog service. A gift replaces the gift with the same id as a whole. A
gift that is already as in the file is not changed. After an interruption or an error, run it again: it
continues where it stopped.

Files are UTF-8, with at most 1 MiB per row, 1,000,000 rows, and each id once.

JSON is an array of objects, NDJSON one object per line:

  {"id": "887658a1-e837-518d-85c0-a1d3ec462bbb", "state": "PUBLISHED", "name": "Team jersey",
   "description": "The jersey of the season.",
   "translations": [{"locale": "sv-SE", "name": "Matchtröja", "description": "Säsongens tröja."}],
   "variations": [{"dimension": "Size", "values": ["S", "M"]}],
   "categories": ["SPORT__CLOTHING"], "availableCountries": ["SE", "NO"],
   "prices": [{"region": "NORDICS", "amountEur": "79.90"}],
   "imageFileIds": ["0a1b2c3d4e5f60718293a4b5c6d7e8f9"],
   "customizationAvailable": true, "giftSet": false, "readyToSend": true}

CSV begins with a line of column names, in any order; id, state and name are required:

  id                      UUID
  state                   DRAFT, PUBLISHED, ARCHIVED or INTERNAL
  name, description       in en-US
  name:LOCALE, description:LOCALE    translations, such as name:sv-SE
  variations              Size=S|M;Colour=Red|Blue
  categories              SPORT__CLOTHING;HOME__TEXTILES
  availableCountries      SE;NO
  prices                  NORDICS=79.90;DACH=85
  imageFileIds            file ids of uploaded images, separated by ;
  customizationAvailable, giftSet, readyToSend    true, false or empty for false

To use ; | = or \ as text, put a backslash before it.

The report has an entry per row: line, id, outcome (created, updated, unchanged, rejected) and the
errors of its fields. Invalid rows are rejected and the others are imported. Where a file cannot be read
further, the import ends with the number of that line. Progress goes to the standard error. The exit
code is 0 if every row was imported, otherwise 1.

Where calls of the platform use TLS, the command needs the certificate of an operator, in the variables
GIFTING_TLS_CERT_FILE, GIFTING_TLS_KEY_FILE, GIFTING_TLS_CA_FILE and, unless it is partner-gifting,
GIFTING_TLS_TRUST_DOMAIN.

`
