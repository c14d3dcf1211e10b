// Outside reads Parquet files with other people's readers, for tests of ours.
//
//	outside sql QUERY                   DuckDB's answer, a JSON object a row
//	outside duckdb FILE COLUMN COLUMN   two columns, all values of each XORed, by DuckDB on one thread
//	outside arrow FILE COLUMN COLUMN    the same by arrow-go
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	_ "github.com/duckdb/duckdb-go/v2"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "outside:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "sql":
		return query(args[1])
	case len(args) == 4 && args[0] == "duckdb":
		return timed(args[1:], duckdb)
	case len(args) == 4 && args[0] == "arrow":
		return timed(args[1:], arrow)
	}
	return errors.New("want sql QUERY, duckdb FILE A B or arrow FILE A B")
}

func query(text string) error {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.Query(text)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		values, places := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return err
		}
		row := map[string]any{}
		for i, name := range names {
			row[name] = values[i]
		}
		if err := json.NewEncoder(os.Stdout).Encode(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// timed prints the XOR of each of two columns and how long they took, nanoseconds.
func timed(args []string, fold func(path, a, b string) (x, y int64, began time.Time, err error)) error {
	a, b, began, err := fold(args[0], args[1], args[2])
	fmt.Println(a, b, time.Since(began).Nanoseconds())
	return err
}

func duckdb(path, a, b string) (x, y int64, began time.Time, err error) {
	db, err := sql.Open("duckdb", "?threads=1")
	if err != nil {
		return 0, 0, began, err
	}
	if err := db.Ping(); err != nil {
		return 0, 0, began, err
	}
	began = time.Now() // its own start is not counted
	err = db.QueryRow(fmt.Sprintf("select bit_xor(%s), bit_xor(%s) from read_parquet('%s')", a, b, path)).Scan(&x, &y)
	return x, y, began, err
}

func arrow(path, a, b string) (x, y int64, began time.Time, err error) {
	began = time.Now()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return 0, 0, began, err
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 1 << 16}, memory.DefaultAllocator)
	if err != nil {
		return 0, 0, began, err
	}
	schema := f.MetaData().Schema
	batches, err := r.GetRecordReader(context.Background(), []int{schema.ColumnIndexByName(a), schema.ColumnIndexByName(b)}, nil)
	if err != nil {
		return 0, 0, began, err
	}
	defer batches.Release()
	for batches.Next() {
		record := batches.RecordBatch()
		x ^= fold(record.Column(0).(*array.Int64))
		y ^= fold(record.Column(1).(*array.Int64))
	}
	if err := batches.Err(); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, began, err
	}
	return x, y, began, nil
}

func fold(column *array.Int64) (total int64) {
	values := column.Int64Values()
	if column.NullN() == 0 {
		for _, v := range values {
			total ^= v
		}
		return total
	}
	for i, v := range values {
		if column.IsValid(i) {
			total ^= v
		}
	}
	return total
}
