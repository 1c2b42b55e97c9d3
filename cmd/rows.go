package cmd

// rows writes values in order: with --json as objects, otherwise as line tells them.
func rows[T, J any](env *Env, all []T, object func(T) J, line func(T)) error {
	for _, v := range all {
		if !env.JSON {
			line(v)
		} else if err := env.Object(object(v)); err != nil {
			return err
		}
	}
	return nil
}

// itself is for rows of values that are their own objects.
func itself[T any](v T) T { return v }
