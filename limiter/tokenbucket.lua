-- The token bucket: "debt time", what is missing from a full bucket and the
-- microsecond it was missing at. A token is b units, and a units come back each
-- microsecond, so that all of it is whole numbers. limit is the capacity.

-- The short way. Lua takes texts for numbers where it calculates, at less cost
-- than tonumber, but not where it compares.

do
  local key, cost, ttl, limit, call = KEYS[1], ARGV[1], ARGV[2], ARGV[3], redis.call
  local value, rest = redis.pcall('GET', key), call('PTTL', key)
  if rest > 0 and rest - ttl <= 0 and cost - 1 >= 0 and cost % 1 == 0 and type(value) == 'string' then
    local debt, at = string.match(value, '^(%d+) (%d+)$')
    if debt and #debt <= 16 and #at <= 16 then
      local time, a, b = call('TIME'), ARGV[4], ARGV[5]
      local now = time[1] * 1000000 + time[2]
      local since = now - at
      debt = debt - (since > 0 and since * a or 0)
      debt = (debt > 0 and debt or 0) + cost * b
      local units = limit * b - debt
      if units >= 0 then
        local ms = 1000 * a
        local reset = (debt + -debt % ms) / ms
        call('SET', key, string.format('%.0f %.0f', debt, now), 'PX', reset)
        return {(units - units % b) / b, reset}
      end
    end
  end
end

-- The long way.

local function ceil(x, y) -- x / y rounded up, exact where math.ceil(x / y) is not
  return (x + -x % y) / y
end

local function write_debt(w)
  if w.debt <= 0 then
    return call('DEL', w.key)
  end
  call('SET', w.key, string.format('%.0f %.0f', w.debt, now()), 'PX', ceil(w.debt, 1000 * w.a))
end

policies.bucket = {
  own = true,

  read = function(w, value)
    local debt, at = string.match(value, '^(%d+) (%d+)$')
    if not debt or #debt > 16 or #at > 16 then -- more digits than 2^53 has
      return false
    end
    -- Negative after the clock was set back: then nothing has come back yet.
    local since = now() - tonumber(at)
    debt = since > 0 and tonumber(debt) - since * w.a or tonumber(debt)
    -- Above the capacity only commitments go, and at most by one bucket: a debt
    -- beyond is none of this package.
    w.debt = math.min(math.max(debt, 0), 2 * w.limit * w.b)
    return true
  end,

  clear = function(w)
    w.debt = 0
  end,

  look = function(w, cost)
    local units = w.limit * w.b - w.debt
    local missing = cost * w.b - units
    w.left = units > 0 and (units - units % w.b) / w.b or 0
    w.wait = missing > 0 and ceil(missing, 1000 * w.a) or 0
    w.reset = ceil(w.debt, 1000 * w.a)
  end,

  add = function(w, n)
    w.debt = math.min(w.debt + n * w.b, 2 * w.limit * w.b)
    write_debt(w)
  end,
}

-- Reservations.

-- The mark of a reservation is its moment. A bucket has no end after which it
-- would have to be charged again.
policies.bucket.mark = now

policies.bucket.holds = function()
  return true
end

-- What has come back by itself since the reservation is not given twice.
policies.bucket.give = function(w, n, mark)
  local units = n * w.b - math.max(now() - mark, 0) * w.a
  if units > 0 then
    w.debt = w.debt - units
    write_debt(w)
  end
end
