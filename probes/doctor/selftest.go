package doctor

// checkSelfTest tells what this host's own stamps are off by, if that was measured.
func checkSelfTest(v *Visit) []Finding {
	const subject = "self-test"
	if v.SelfTest == nil {
		return nil
	}
	found, known, err := v.SelfTest()
	switch {
	case err != nil:
		return []Finding{{
			subject, Note, "its result could not be read: " + err.Error(),
			"the error of this host's own stamps is then missing from every error budget", "`tickmark selftest`",
		}}
	case !known:
		return []Finding{{
			subject, Note, "none is known for this kernel and its interfaces",
			"the error of this host's own stamps, some µs as a rule, is missing from every error budget", "`tickmark selftest`, which takes seconds",
		}}
	}
	return []Finding{{Subject: subject, State: OK, What: found}}
}
