// FerretDB as a program: it listens on the Unix socket of its first argument,
// and stores documents in the PostgreSQL database of its second one.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	f, err := ferretdb.New(&ferretdb.Config{
		Listener:      ferretdb.ListenerConfig{Unix: os.Args[1]},
		Handler:       "postgresql",
		PostgreSQLURL: os.Args[2],
		Logger:        quiet,
	})
	if err != nil {
		slog.Error(err.Error())
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	f.Run(ctx)
}
