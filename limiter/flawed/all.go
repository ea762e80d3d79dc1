package flawed

// All lists the broken limiters, in the order of README.md.
func All() []Case {
	return []Case{
		incrThenExpireCase(),
		checkThenIncrCase(),
		existsThenIncrCase(),
		existsTTLThenIncrCase(),
		ttlThenSetCase(),
		expireWhenOneCase(),
		limitMinusOneCase(),
		separateCheckCase(),
		bucketRateZeroCase(),
		refundCase(),
		profileCase(),
		expireThenWriteCase(),
		firstHitNeverCase(),
		clientClockCase(),
		millisecondsAsSecondsCase(),
		readModifySetCase(),
		shortLivedBucketCase(),
		renewedWindowCase(),
		windowIndexCase(),
		newTypeCase(),
	}
}
