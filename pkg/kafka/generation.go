package kafka

import (
	"context"
	"sync"

	kafkago "github.com/segmentio/kafka-go"
)

// consume reads the partitions of one generation until it ends or the consumer stops. Before it returns, every
// handler has returned and what they finished is committed, so the group hands over partitions that nobody works on.
func (c *Consumer) consume(run, ended context.Context, generation *kafkago.Generation) {
	ctx, cancel := context.WithCancel(run)
	defer cancel()
	go func() {
		select {
		case <-ended.Done():
			cancel()
		case <-ctx.Done():
		}
	}()

	assigned := generation.Assignments[c.opts.Topic]
	c.log.InfoContext(ctx, "partitions assigned", "generation", generation.ID, "partitions", len(assigned))
	commits := newCommits(c.opts.Topic, generation.CommitOffsets, c.log)

	var partitions, committer sync.WaitGroup
	has := make(map[int]*progress, len(assigned))
	for _, a := range assigned {
		p := newPartition(c, a, commits)
		has[p.id] = p.progress
		partitions.Go(func() { p.pump(ctx) })
		partitions.Go(func() { p.work(ctx) })
	}
	c.members.set(has)
	defer c.members.set(nil)
	stop := make(chan struct{})
	committer.Go(func() { commits.run(stop) })

	// A generation without partitions lives on too: this member may get some in the next one.
	<-ctx.Done()
	partitions.Wait()
	close(stop)
	committer.Wait()

	// Returning earlier than the group ends the generation would make the library join once more, only to leave.
	<-ended.Done()
}
