package probes

import "errors"

func bindJVMWatcher(o pauseOptions) (watcher, error) {
	if o.log == "" {
		return nil, errors.New("of=jvm: which? Give log=FILE, the JVM's GC log (-Xlog:gc*,safepoint:file=FILE)")
	}
	return nil, errors.ErrUnsupported
}
