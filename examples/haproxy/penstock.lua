-- Calls Penstock for a request and stores the response in variables.
local url = os.getenv("PENSTOCK_URL") or "http://127.0.0.1:8080/v1/forward-auth"
local timeout_ms = 100

core.register_action("penstock", { "http-req" }, function(txn)
  local client = core.httpclient()
  local answer = client:get({
    url = url,
    timeout = timeout_ms,
    headers = {
      ["x-forwarded-method"] = { txn.sf:method() },
      ["x-forwarded-uri"] = { txn.sf:pathq() },
      ["x-forwarded-for"] = { txn.sf:src() },
      ["x-forwarded-host"] = { txn.sf:req_hdr("host") },
      ["x-api-key"] = { txn.sf:req_hdr("x-api-key") },
    },
  })
  local function header(name)
    local values = answer and answer.headers and answer.headers[name]
    return values and values[0]
  end
  local status = answer and tonumber(answer.status) or 0
  -- A 503 without a decision: a daemon with too many connections, treated as unavailable.
  if status >= 500 and header("x-ratelimit-decision") ~= "denied" then status = 0 end
  txn:set_var("txn.penstock_status", status)
  txn:set_var("txn.penstock_retry_after", header("retry-after") or "1")
  if header("ratelimit-policy") then txn:set_var("txn.penstock_policy", header("ratelimit-policy")) end
  if header("ratelimit") then txn:set_var("txn.penstock_state", header("ratelimit")) end
end)
