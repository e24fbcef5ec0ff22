package giftingctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/importer"
)

var errRejected = errors.New("rows were rejected; see the report")

// importCommand imports a file of gifts, in batches.
type importCommand struct {
	app *app

	format, report, reportFormat string
	dryRun                       bool
}

func (a *app) catalogCommand() *cobra.Command {
	i := &importCommand{app: a}
	command := &cobra.Command{
		Use: "import FILE", Short: "Import gifts from a JSON, NDJSON or CSV file", Long: importHelp,
		Args: arguments(1),
		RunE: func(command *cobra.Command, args []string) error { return i.run(command.Context(), args[0]) },
	}
	formats := []string{string(importer.JSON), string(importer.NDJSON), string(importer.CSV)}
	completions := func(of []string) cobra.CompletionFunc {
		return cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp)
	}
	flags := command.Flags()
	flags.StringVar(&i.format, "format", "", "json, ndjson or csv; default: by the ending of the file")
	flags.StringVar(&i.report, "report", "-", "where the report goes; - is the standard output")
	flags.StringVar(&i.reportFormat, "report-format", "", "ndjson or csv; default: by the ending of the report, else ndjson")
	flags.BoolVar(&i.dryRun, "dry-run", false, "read the whole file, report the rows that cannot be read, and send nothing")
	terminal.Must(command.RegisterFlagCompletionFunc("format", completions(formats)))
	terminal.Must(command.RegisterFlagCompletionFunc("report-format", completions(formats[1:])))
	group := &cobra.Command{Use: "catalog", Short: about["catalog"]}
	group.AddCommand(command)
	return group
}

func (i *importCommand) run(ctx context.Context, name string) (err error) {
	target, err := i.app.chooseContext()
	if err != nil {
		return err
	}
	file, size, format, err := i.open(name)
	if err != nil {
		return terminal.AsUsageError(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	bar := i.app.bar("imported", size)
	if i.report == "-" && i.app.OutTerminal {
		bar = nil // The report shows the progress.
	}
	rows, err := importer.Read(countingReader{file, bar}, format)
	if err != nil {
		return terminal.AsUsageError(err)
	}
	conn, err := i.app.dial(target, identity.Catalog)
	if err != nil {
		return err
	}
	defer conn.close()
	to, report, err := i.openReport(file)
	if err != nil {
		return terminal.AsUsageError(err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if i.dryRun {
		return i.checkFile(ctx, rows, report, bar)
	}
	totals, err := importer.Import{
		Rows: rows, Catalog: catalogv1.NewImportServiceClient(conn.conn), Report: report, Progress: i.progress(), Clock: time.Now,
	}.Run(ctx)
	bar.End()
	if i.app.ErrTerminal {
		i.app.note(totals.String())
	}
	if i.app.output == terminal.AsJSON && i.report != "-" {
		err = errors.Join(terminal.JSON(i.app.Out, totals), err)
	}
	return i.outcome(conn, totals, err)
}

// checkFile reads the file as an import would. The catalog may still refuse rows that can be read.
func (i *importCommand) checkFile(ctx context.Context, rows importer.Rows, report importer.Report, bar *daemon.ProgressBar) error {
	totals := importer.Totals{}
	for ctx.Err() == nil {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(report.Flush(), err)
		}
		totals.Rows++
		if len(row.Violations) == 0 {
			continue
		}
		totals.Rejected++
		if err := report.Write(importer.RejectedEntry(row)); err != nil {
			return err
		}
	}
	bar.End()
	i.app.note(fmt.Sprintf("%d rows, of which %d cannot be read. Nothing was sent.", totals.Rows, totals.Rejected))
	return errors.Join(report.Flush(), i.outcome(nil, totals, ctx.Err()))
}

// outcome is the error of an import. After a failed call, or Ctrl-C, the same command can be run again.
func (i *importCommand) outcome(conn *connection, totals importer.Totals, err error) error {
	if errors.Is(err, context.Canceled) {
		i.app.note("Stopped: " + err.Error() + ". Run the same command again: it imports the rest.")
		return stopped()
	}
	if _, failed := problem.As(err); failed {
		i.app.note(err.Error() + ". Run the same command again: it imports the rest.")
		return &refusal{status: conn.status}
	}
	if err == nil && totals.Rejected > 0 {
		return fmt.Errorf("%d of %d %w", totals.Rejected, totals.Rows, errRejected)
	}
	return err
}

// progress is where lines about the progress go. On a terminal there is a bar instead.
func (i *importCommand) progress() io.Writer {
	if i.app.ErrTerminal {
		return io.Discard
	}
	return i.app.Err
}

// countingReader shows how much of a file has been read.
type countingReader struct {
	io.Reader

	bar *daemon.ProgressBar
}

// Read implements io.Reader.
func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bar.Add(n)
	return n, err
}

func (i *importCommand) open(name string) (io.ReadCloser, int, importer.Format, error) {
	format, err := importer.Format(i.format), error(nil)
	if format == "" {
		format, err = importer.FormatOf(name)
	}
	if err != nil || name == "-" {
		return io.NopCloser(i.app.In), 0, format, err
	}
	file, err := os.Open(name) //nolint:gosec // The user names the file.
	if err != nil {
		return nil, 0, "", fmt.Errorf("open the file: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, "", errors.Join(err, file.Close())
	}
	return file, int(info.Size()), format, nil
}

// nopCloser leaves the standard output open.
type nopCloser struct{ io.Writer }

// Close implements io.Closer.
func (nopCloser) Close() error { return nil }

var errSameFile = errors.New("the report would replace the file of the gifts")

func (i *importCommand) openReport(gifts io.Reader) (io.WriteCloser, importer.Report, error) {
	format := importer.Format(i.reportFormat)
	if format == "" {
		format = importer.NDJSON
		if byName, err := importer.FormatOf(i.report); err == nil {
			format = byName
		}
	}
	var to io.WriteCloser = nopCloser{i.app.Out}
	if i.report != "-" {
		if isSameFile(gifts, i.report) {
			return nil, nil, errSameFile
		}
		file, err := create(i.report)
		if err != nil {
			return nil, nil, fmt.Errorf("create the report: %w", err)
		}
		to = file
	}
	report, err := importer.NewReport(to, format)
	if err != nil {
		return nil, nil, errors.Join(err, to.Close())
	}
	return to, report, nil
}

// isSameFile reports that the path is that of an open file.
func isSameFile(open io.Reader, path string) bool {
	file, ok := open.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	other, missing := os.Stat(path)
	return err == nil && missing == nil && os.SameFile(info, other)
}

const importHelp = `Imports gifts into the running catalog service. A gift replaces the gift with the same id as a whole. A gift
that is already as in the file is not changed. After an interruption or an error, run it again: it continues where it stopped.

` + importer.Files + `
The report has an entry per row: line, id, outcome (created, updated, unchanged, rejected) and the errors of its fields. Invalid
rows are rejected and the others are imported. Where a file cannot be read further, the import ends with the number of that line.
The exit code is 0 if every row was imported. The context needs the certificate of an operator.`
