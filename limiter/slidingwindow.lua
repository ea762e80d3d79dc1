-- The sliding window: "slice:count slice:count ", oldest first. a is the length
-- of a slice in microseconds, b how many there are in a window. A slice is
-- numbered by the server's clock. It counts until its last moment is a window
-- ago: b slices after its own.

-- The long way.

local function ceil(x, y) -- x / y rounded up, exact where math.ceil(x / y) is not
  return (x + -x % y) / y
end

-- put counts n in a slice that is not before the last one.
local function put(w, slice, n)
  local i = #w.slices
  if w.slices[i] ~= slice then
    i = i + 1
    w.slices[i], w.counts[i] = slice, 0
  end
  w.counts[i], w.used = math.min(w.counts[i] + n, MOST), w.used + n
end

-- ends is how many ms the i-th slice counts on.
local function ends(w, i)
  return ceil((w.slices[i] + 1 + w.b) * w.a - now(), 1000)
end

local function write_slices(w)
  if #w.slices == 0 then
    return call('DEL', w.key)
  end
  local parts = {}
  for i, slice in ipairs(w.slices) do
    parts[i] = string.format('%.0f:%.0f ', slice, w.counts[i])
  end
  call('SET', w.key, table.concat(parts), 'PX', ends(w, #parts))
end

policies.sliding = {
  own = true,

  read = function(w, value)
    policies.sliding.clear(w)
    local slice, last, behind = floor(now() / w.a), -1, 1
    for start, s, n, stop in string.gmatch(value, '()(%d+):(%d+) ()') do
      if start ~= behind or #s > 16 or #n > 16 then -- more digits than 2^53 has
        return false
      end
      s, n = tonumber(s), tonumber(n)
      if s <= last or n < 1 or n > MOST then
        return false
      end
      last, behind = s, stop
      if slice - s <= w.b then
        -- After the clock was set back: what is later than now is as of now.
        put(w, math.min(s, slice), n)
      end
    end
    return behind > 1 and behind == #value + 1
  end,

  clear = function(w)
    w.slices, w.counts, w.used = {}, {}, 0
  end,

  look = function(w, cost)
    w.left = math.max(w.limit - w.used, 0)
    w.wait, w.reset = 0, 0
    local used, last = 0, #w.slices
    if last > 0 then
      w.reset = ends(w, last)
    end
    -- Until the newest slice is gone with which there is no room. (Not used +
    -- cost > limit: above 2^53 a sum is no longer exact.)
    for i = last, 1, -1 do
      used = used + w.counts[i]
      if used > w.limit - cost then
        w.wait = ends(w, i)
        break
      end
    end
  end,

  add = function(w, n)
    put(w, floor(now() / w.a), n)
    write_slices(w)
  end,
}

-- Reservations.

-- find is the index of the slice that a reservation was counted in.
local function find(w, mark)
  for i, slice in ipairs(w.slices) do
    if slice == math.min(mark, floor(now() / w.a)) then
      return i
    end
  end
end

-- The mark of a reservation is its slice.
policies.sliding.mark = function(w)
  return floor(now() / w.a)
end

policies.sliding.holds = find

policies.sliding.give = function(w, n, mark)
  local i = find(w, mark)
  w.counts[i] = w.counts[i] - n
  if w.counts[i] <= 0 then
    table.remove(w.slices, i)
    table.remove(w.counts, i)
  end
  write_slices(w)
end
