-- What the shape of web.events does with a record, as far as Flink SQL can say it; the gate of `bench ingest` compares the rows.
-- Not here: records that are no JSON, as they would be lost; looks into agents, referrers and zones; unknown fields; duplicates.
CREATE TABLE records (
  event_id STRING, `type` STRING, `site` STRING, `visitor` STRING, `url` STRING, `happened_at` BIGINT,
  `user` STRING, `referrer` STRING, `title` STRING, `language` STRING, `screen` STRING, `user_agent` STRING,
  `load_ms` BIGINT, `engaged_ms` BIGINT, `scroll_pct` BIGINT, `experiment` STRING, `variant` STRING, `name` STRING,
  `country` STRING, `region` STRING, `props` MAP<STRING, STRING>,
  `partition` INT METADATA VIRTUAL,
  `offset` BIGINT METADATA VIRTUAL,
  `timestamp` TIMESTAMP_LTZ(3) METADATA VIRTUAL,
  `headers` MAP<STRING, BYTES> METADATA VIRTUAL
) WITH (
  'connector' = 'kafka',
  'topic' = '{topic}',
  'properties.bootstrap.servers' = '{kafka}',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset',
  'format' = 'json'
);

CREATE TABLE facts (
  `partition` INT, `offset` BIGINT, `event_id` STRING,
  `happened_at` TIMESTAMP_LTZ(3), `received_at` TIMESTAMP_LTZ(3), `logged_at` TIMESTAMP_LTZ(3), `reason` STRING,
  `type` STRING, `site` STRING, `visitor` STRING, `url` STRING, `user` STRING, `referrer` STRING, `title` STRING,
  `language` STRING, `screen` STRING, `user_agent` STRING, `load_ms` BIGINT, `engaged_ms` BIGINT, `scroll_pct` BIGINT,
  `experiment` STRING, `variant` STRING, `name` STRING, `country` STRING, `region` STRING, `host` STRING, `page` STRING,
  `utm_source` STRING, `utm_medium` STRING, `utm_campaign` STRING, `utm_term` STRING, `utm_content` STRING,
  `props` MAP<STRING, STRING>
) WITH (
  'connector' = 'filesystem',
  'path' = '{folder}',
  'format' = 'parquet',
  'parquet.utc-timezone' = 'true',
  'parquet.write.int64.timestamp' = 'true',
  'parquet.timestamp.time.unit' = 'micros'
);

CREATE VIEW parsed AS
SELECT
  *,
  TO_TIMESTAMP_LTZ(happened_at, 3) AS told_at,
  COALESCE(TO_TIMESTAMP_LTZ(TRY_CAST(DECODE(headers['received_at'], 'UTF-8') AS BIGINT), 3), `timestamp`) AS arrived,
  LOWER(PARSE_URL(`url`, 'HOST')) AS `host`,
  '/' || TRIM(BOTH '/' FROM PARSE_URL(`url`, 'PATH')) AS page,
  -- without what trackers add
  REGEXP_REPLACE(
    COALESCE('&' || PARSE_URL(`url`, 'QUERY'), ''), '&((utm_[a-z_]+|gclid|fbclid|msclkid)(=[^&]*)?)?(?=&|$)', ''
  ) AS query
FROM records;

INSERT INTO facts
SELECT
  `partition`, `offset`, COALESCE(event_id, DECODE(headers['event_id'], 'UTF-8')),
  CASE WHEN told_at > arrived THEN arrived ELSE COALESCE(told_at, arrived) END, arrived, `timestamp`,
  CASE
    WHEN `type` IS NULL OR `type` = '' THEN 'missing_type'
    WHEN `site` IS NULL OR `site` = '' THEN 'missing_site'
    WHEN visitor IS NULL OR visitor = '' THEN 'missing_visitor'
    WHEN `url` IS NULL OR `url` = '' THEN 'missing_url'
    WHEN CHAR_LENGTH(`url`) > 4096 THEN 'bad_url'
    WHEN CHAR_LENGTH(referrer) > 4096 THEN 'bad_referrer'
    WHEN CHAR_LENGTH(title) > 4096 THEN 'bad_title'
    WHEN load_ms NOT BETWEEN 0 AND 86400000 THEN 'bad_load_ms'
    WHEN `type` NOT IN ('pageview', 'engagement', 'event') THEN 'unknown_type'
    WHEN `type` = 'event' AND COALESCE(name, '') = '' THEN 'missing_name'
    WHEN `host` IS NULL THEN 'bad_url'
    WHEN told_at < arrived - INTERVAL '400' DAY(3) THEN 'too_old'
    WHEN told_at > arrived + INTERVAL '24' HOUR THEN 'in_future'
  END,
  `type`, `site`, visitor,
  LOWER(PARSE_URL(`url`, 'PROTOCOL')) || '://' || `host` || page
    || REGEXP_REPLACE(ARRAY_JOIN(ARRAY_SORT(SPLIT(query, '&')), '&'), '^&', '?'),
  `user`,
  LOWER(PARSE_URL(referrer, 'PROTOCOL')) || '://' || LOWER(PARSE_URL(referrer, 'HOST'))
    || '/' || TRIM(BOTH '/' FROM PARSE_URL(referrer, 'PATH')),
  title, `language`, screen, user_agent, load_ms, engaged_ms, scroll_pct, experiment, `variant`, name, country, region,
  `host`, page,
  PARSE_URL(`url`, 'QUERY', 'utm_source'), PARSE_URL(`url`, 'QUERY', 'utm_medium'),
  PARSE_URL(`url`, 'QUERY', 'utm_campaign'), PARSE_URL(`url`, 'QUERY', 'utm_term'),
  PARSE_URL(`url`, 'QUERY', 'utm_content'),
  props
FROM parsed
